"""Weighted sums of nine neighbours, of maps (channels, height, width, batch).

Source: hszhao/SAN, lib/sa/functions/aggregation_refpad.py.
"""

import torch
from torch import Tensor

from reattn.models.neighbourhoods import NEIGHBOURS
from reattn.models.shifts import around, reflect, unreflect, views

# Fewer gathered numbers than this are summed at once, without nine steps.
FEW_NUMBERS = 3 * 2**17


def weighted_sum(
    values: Tensor, weights: Tensor, shift: Tensor | None = None
) -> Tensor:
    """The weighted sum of each pixel's nine neighbours.

    Args:
        values: (channels, height, width, batch); channel c takes weight
            c mod (weight channels).
        weights: (weight channels, 9, height, width, batch).
        shift: (channels), added to the sum; has no gradient.

    Returns:
        (channels, height, width, batch).
    """
    if NEIGHBOURS * values.numel() > FEW_NUMBERS:
        return _ShiftedSum.apply(values, weights, shift)
    neighbours = around(values).unflatten(0, (-1, len(weights)))
    total = (neighbours * weights).sum(dim=2).flatten(0, 1)
    return total if shift is None else total.add_(shift.view(-1, 1, 1, 1))


def _shifted_sum(padded: Tensor, weights: Tensor, shift: Tensor | None) -> Tensor:
    first, *others = views(padded.unflatten(0, (-1, len(weights))))
    if shift is None:
        total = first * weights[:, 0]
    else:
        shift = shift.view(-1, len(weights), 1, 1, 1)
        total = torch.addcmul(shift, first, weights[:, 0])
    for number, view in enumerate(others, start=1):
        total.addcmul_(view, weights[:, number])
    return total.flatten(0, 1)


class _ShiftedSum(torch.autograd.Function):
    """Nine shifts of values times weights, added up in place.

    Autograd would give each of the nine views a gradient of full size; adding
    them in place halves the time and the memory of the backward pass.
    """

    @staticmethod
    def forward(
        context, values: Tensor, weights: Tensor, shift: Tensor | None
    ) -> Tensor:
        padded = reflect(values)
        context.save_for_backward(padded, weights)
        return _shifted_sum(padded, weights, shift)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        padded, weights = context.saved_tensors
        shape = (-1, len(weights))
        gradient = gradient.unflatten(0, shape)
        to_padded, to_weights = torch.zeros_like(padded), torch.empty_like(weights)
        pairs = zip(
            views(padded.unflatten(0, shape)),
            views(to_padded.unflatten(0, shape)),
            strict=True,
        )
        for number, (view, into) in enumerate(pairs):
            into.addcmul_(gradient, weights[:, number])
            torch.sum(gradient * view, dim=0, out=to_weights[:, number])
        return unreflect(to_padded), to_weights, None
