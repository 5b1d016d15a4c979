"""The nine pixels around each pixel, and sums over them, as the equations read.

Source: hszhao/SAN, lib/sa/functions: aggregation, subtraction and subtraction2 with
reflection padding ("refpad") and 3x3 windows, written there as CUDA kernels.
"""

from torch import Tensor
from torch.nn import functional as F

KERNEL = 3
NEIGHBOURS = KERNEL * KERNEL


def neighbourhoods(maps: Tensor) -> Tensor:
    """The nine values around each pixel, row by row; the border is reflected.

    Args:
        maps: (batch, channels, height, width), each side at least 2.

    Returns:
        (batch, channels, 9, height * width).
    """
    padded = F.pad(maps, (1, 1, 1, 1), mode="reflect")
    return F.unfold(padded, KERNEL).unflatten(1, (maps.shape[1], NEIGHBOURS))


def aggregate(values: Tensor, weights: Tensor) -> Tensor:
    """The weighted sum of each pixel's nine neighbours.

    Channel c of the values takes weight c mod (weight channels), as in hszhao/SAN
    lib/sa/functions/aggregation_refpad.py.

    Args:
        values: (batch, channels, height, width).
        weights: (batch, weight channels, 9, height * width).

    Returns:
        (batch, channels, height, width).
    """
    around = neighbourhoods(values).unflatten(1, (-1, weights.shape[1]))
    return (around * weights.unsqueeze(1)).sum(dim=3).view_as(values)
