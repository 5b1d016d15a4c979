"""How many images of a batch are in memory at once."""

import torch

from reattn.config.runs import Run
from reattn.costs.memory import largest_micro_batch
from reattn.training.limits import CPU_BYTES

CARD_SHARE = 0.8  # of a card's memory; the rest is the framework's and fragments


def micro_batch_for(
    run: Run, image_size: tuple[int, int], classes: int, device: torch.device
) -> int:
    """The study's micro-batch, or the largest that is estimated to fit.

    Args:
        run: The run; its batch is split.
        image_size: Height and width of its images, in pixels.
        classes: Classes of its data.
        device: The device that trains.
    """
    training, batch = run.study.training, run.budget.batch
    if training.micro_batch != "auto":
        return min(training.micro_batch, batch)
    return largest_micro_batch(
        run.variant.model,
        max(image_size),
        classes,
        batch,
        _available_bytes(device),
        training.precision,
    )


def _available_bytes(device: torch.device) -> int:
    if device.type == "cpu":
        return CPU_BYTES
    return int(CARD_SHARE * torch.cuda.get_device_properties(device).total_memory)
