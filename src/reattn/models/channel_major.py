"""Linear maps and normalisations of maps (channels, height, width, batch).

A channel is a row of a matrix. Gradients get the same layout: turning a matrix over
takes as long as multiplying it.
"""

import torch
from torch import Tensor, nn

from reattn.models import batch_norm, products


def linear_of_pixels(pixels: Tensor, weight: Tensor) -> Tensor:
    """Apply a linear map, and put channels first.

    Args:
        pixels: (height, width, batch, inputs).
        weight: (outputs, inputs).

    Returns:
        (outputs, height, width, batch).
    """
    mapped = products.linear(weight, pixels.flatten(0, 2))
    return mapped.unflatten(1, pixels.shape[:3])


def product(weight: Tensor, columns: Tensor) -> Tensor:
    """(outputs, inputs) times (inputs, numbers)."""
    if _differentiated(columns):
        return _ProductInColumns.apply(weight, columns)
    return products.linear(weight, columns.t())


def linear_to_pixels(maps: Tensor, convolution: nn.Conv2d) -> Tensor:
    """A 1x1 convolution of (channels, height, width, batch), channels put last."""
    weight, bias = convolution.weight.flatten(1), convolution.bias
    columns = maps.flatten(1)
    if _differentiated(columns):
        mapped = _ProductInRows.apply(columns, weight, bias)
    else:
        mapped = products.linear(columns.t(), weight, bias)
    return mapped.unflatten(0, maps.shape[1:])


def norm_relu(maps: Tensor, norm: nn.BatchNorm2d) -> Tensor:
    """Normalise each channel, then set what is negative to 0."""
    return batch_norm.norm_relu(maps.flatten(1), norm, along=1).view_as(maps)


def weigh(layers: nn.Sequential, maps: Tensor) -> Tensor:
    """Two times normalisation, ReLU and a 1x1 convolution, of (channels, ...)."""
    norm, _, first, hidden_norm, _, second = layers
    activated = batch_norm.norm_relu(maps.flatten(1), norm, along=1)
    hidden = product(first.weight.flatten(1), activated)
    activated = batch_norm.norm_relu(hidden, hidden_norm, along=1)
    scores = product(second.weight.flatten(1), activated)
    return (scores + second.bias[:, None]).unflatten(1, maps.shape[1:])


def _differentiated(columns: Tensor) -> bool:
    """Whether to take the functions below, which know nothing of mixed precision."""
    return torch.is_grad_enabled() and not torch.is_autocast_enabled(
        columns.device.type
    )


class _ProductInColumns(torch.autograd.Function):
    """weight @ columns; the gradient of columns has a channel in a row, too."""

    @staticmethod
    def forward(context, weight: Tensor, columns: Tensor) -> Tensor:
        context.save_for_backward(weight, columns)
        return products.linear(weight, columns.t())

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, gradient: Tensor) -> tuple[Tensor, Tensor]:
        weight, columns = context.saved_tensors
        return (
            products.linear(gradient, columns),
            products.linear(weight.t(), gradient.t()),
        )


class _ProductInRows(torch.autograd.Function):
    """(weight @ columns + bias)^T; the gradient of columns is not turned over."""

    @staticmethod
    def forward(context, columns: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        context.save_for_backward(columns, weight)
        return products.linear(columns.t(), weight, bias)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        columns, weight = context.saved_tensors
        return (
            products.linear(weight.t(), gradient),
            products.linear(gradient.t(), columns),
            gradient.sum(dim=0),
        )
