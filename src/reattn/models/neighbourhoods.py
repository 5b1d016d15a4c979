"""The nine pixels around each pixel, and sums over them.

Source: hszhao/SAN, lib/sa/functions: aggregation, subtraction and subtraction2 with
reflection padding ("refpad") and 3x3 windows, written there as CUDA kernels.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from reattn.models.forms import Form

KERNEL = 3
NEIGHBOURS = KERNEL * KERNEL
# Floats in a vector register; loops over shorter rows gain nothing from it.
VECTOR = 8


def neighbourhoods(maps: Tensor, form: Form = "shipped") -> Tensor:
    """The nine values around each pixel, row by row; the border is reflected.

    Args:
        maps: (batch, channels, height, width), each side at least 2.
        form: "plain" unfolds, "shipped" stacks nine views; both give the same.

    Returns:
        (batch, channels, 9, height * width).
    """
    padded = reflect(maps)
    if form == "plain":
        unfolded = F.unfold(padded, KERNEL)
        return unfolded.unflatten(1, (maps.shape[1], NEIGHBOURS))
    return torch.stack(_views(padded), dim=2).flatten(3)


def aggregate(values: Tensor, weights: Tensor, form: Form = "shipped") -> Tensor:
    """The weighted sum of each pixel's nine neighbours.

    Channel c of the values takes weight c mod (weight channels), as in hszhao/SAN
    lib/sa/functions/aggregation_refpad.py.

    Args:
        values: (batch, channels, height, width).
        weights: (batch, weight channels, 9, height * width).
        form: "plain" unfolds the values, nine times their size in memory;
            "shipped" adds up nine views of them where rows are long enough.

    Returns:
        (batch, channels, height, width).
    """
    groups = weights.shape[1]
    if form == "plain" or values.shape[-1] < VECTOR:
        around = neighbourhoods(values, "plain").unflatten(1, (-1, groups))
        return (around * weights.unsqueeze(1)).sum(dim=3).view_as(values)
    padded = reflect(values).unflatten(1, (-1, groups))
    weights = weights.unflatten(3, values.shape[2:])
    return _ShiftedSum.apply(padded, weights).flatten(1, 2)


def reflect(maps: Tensor) -> Tensor:
    """One pixel more on every side, mirrored at the border pixel."""
    return F.pad(maps, (1, 1, 1, 1), mode="reflect")


class _ShiftedSum(torch.autograd.Function):
    """Sum over nine shifts of (padded values) * (weights), in place.

    Autograd would give each of the nine views a gradient of full size; adding
    them in place halves the time and the memory of the backward pass.
    """

    @staticmethod
    def forward(padded: Tensor, weights: Tensor) -> Tensor:
        first, *others = _views(padded)
        total = first * weights[:, None, :, 0]
        for shift, view in enumerate(others, start=1):
            total.addcmul_(view, weights[:, None, :, shift])
        return total

    @staticmethod
    def setup_context(context, inputs, output) -> None:
        context.save_for_backward(*inputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, gradient: Tensor) -> tuple[Tensor, Tensor]:
        padded, weights = context.saved_tensors
        to_padded, to_weights = torch.zeros_like(padded), torch.empty_like(weights)
        for shift, (view, into) in enumerate(
            zip(_views(padded), _views(to_padded), strict=True)
        ):
            into.addcmul_(gradient, weights[:, None, :, shift])
            to_weights[:, :, shift] = (gradient * view).sum(dim=1)
        return to_padded, to_weights


def _views(padded: Tensor) -> list[Tensor]:
    height, width = padded.shape[-2] - 2, padded.shape[-1] - 2
    return [
        padded[..., row : row + height, column : column + width]
        for row in range(KERNEL)
        for column in range(KERNEL)
    ]
