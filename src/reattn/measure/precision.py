"""The arithmetic that a measurement runs in."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch

from reattn.errors import ReattnError

PRECISIONS = ("fp32", "tf32", "bf16")


@contextmanager
def arithmetic(precision: str, device: str) -> Iterator[None]:
    """Compute in `precision` within; torch's settings are as before after.

    Args:
        precision: "fp32": every product in full; "tf32": matrix products and
            convolutions of an NVIDIA GPU with 10 bits of mantissa; "bf16":
            torch's automatic mixed precision.
        device: A torch device.

    Raises:
        ReattnError: there is no such precision.
    """
    if precision not in PRECISIONS:
        raise ReattnError(f"precision = {precision!r}: give {', '.join(PRECISIONS)}.")
    products = torch.get_float32_matmul_precision()
    convolutions = torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    torch.backends.cudnn.allow_tf32 = precision == "tf32"
    kind = torch.device(device).type
    mixed = torch.autocast(kind, torch.bfloat16) if precision == "bf16" else None
    try:
        with mixed or nullcontext():
            yield
    finally:
        torch.set_float32_matmul_precision(products)
        torch.backends.cudnn.allow_tf32 = convolutions
