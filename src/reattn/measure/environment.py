"""The machine and the software that a measurement was made with."""

import os
import platform
from typing import Any


def describe_machine(device: str = "cpu") -> dict[str, Any]:
    """Describe processor, device and software; no host name and no path.

    Args:
        device: A torch device, such as "cpu" or "cuda:0".

    Returns:
        cpu (model name), cores (those this process may use), device (the card's
        name, or the processor's), matrix_products (the library that multiplies
        float32 matrices of the shipped forms on the processor), cuda and cudnn (None
        without a card), versions (of python and packages), and platform (system and
        architecture).
    """
    import torch

    from reattn.models.products import onednn_is_faster
    from reattn.training.provenance import cpu_name, device_name, versions

    where = torch.device(device)
    on_card = where.type == "cuda"
    return {
        "cpu": cpu_name(),
        "cores": usable_cores(),
        "device": device_name(where),
        "matrix_products": "oneDNN" if onednn_is_faster() else "torch's own",
        "cuda": torch.version.cuda if on_card else None,
        "cudnn": torch.backends.cudnn.version() if on_card else None,
        "versions": versions(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def usable_cores() -> int:
    """The number of cores that this process is allowed to run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
