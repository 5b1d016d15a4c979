"""How fast this machine multiplies matrices, for an estimate of time."""

import time
from collections.abc import Callable

REPEATS = 3


def processor_rate(side: int = 1024) -> float:
    """Operations a second of a float32 matrix product on one thread."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    matrix = np.ones((side, side), dtype=np.float32)
    with threadpool_limits(1):
        return _rate(lambda: matrix @ matrix, side)


def card_rate(precision: str, side: int = 4096) -> float | None:
    """Operations a second of a matrix product on the first card; None without one.

    Args:
        precision: "fp32", "tf32" or "bf16".
        side: Rows of the matrices.
    """
    import torch

    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    kind = torch.bfloat16 if precision == "bf16" else torch.float32
    matrix = torch.ones(side, side, device="cuda", dtype=kind)

    def multiply() -> None:
        matrix @ matrix
        torch.cuda.synchronize()

    return _rate(multiply, side)


def _rate(multiply: Callable[[], object], side: int) -> float:
    multiply()
    started = time.perf_counter()
    for _ in range(REPEATS):
        multiply()
    return REPEATS * 2 * side**3 / (time.perf_counter() - started)
