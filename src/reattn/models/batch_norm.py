"""Batch normalisation and ReLU of maps that lie in memory as a matrix.

PyTorch's own statistics are summed number by number on a CPU if a channel is a row, and
in float32 without care if it is a column. Here both are fast and exact to rounding.
"""

import torch
from torch import Tensor, nn

PRECISE = (torch.float32, torch.float64)


def norm_relu(matrix: Tensor, norm: nn.BatchNorm2d, along: int) -> Tensor:
    """relu(norm(matrix)), with the statistics of each channel.

    Args:
        matrix: (channels, numbers) or (numbers, channels).
        norm: The module; in training its running statistics move.
        along: The dimension of the numbers of a channel, 1 or 0.
    """
    own = torch.is_grad_enabled() or norm.training
    usual = norm.momentum is not None and matrix.shape[along] > 1
    if not (own and usual) or matrix.is_cuda or matrix.dtype not in PRECISE:
        return _by_pytorch(matrix, norm, along)
    if not norm.training:
        scale, shift = (each.unsqueeze(along) for each in scale_and_shift(norm))
        return torch.addcmul(shift, matrix, scale).relu_()
    return _with_statistics(matrix, norm, along)


def scale_and_shift(norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:
    """What a normalisation with fixed statistics multiplies with and adds."""
    scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
    return scale, norm.bias - norm.running_mean * scale


def _by_pytorch(matrix: Tensor, norm: nn.BatchNorm2d, along: int) -> Tensor:
    if along == 1:
        return norm(matrix.view(1, len(matrix), -1, 1)).relu_().view_as(matrix)
    images = matrix.view(1, len(matrix), 1, -1).permute(0, 3, 1, 2)
    return norm(images).relu_().permute(0, 2, 3, 1).reshape(matrix.shape)


def _with_statistics(matrix: Tensor, norm: nn.BatchNorm2d, along: int) -> Tensor:
    results = _NormReLU.apply(matrix, norm.weight, norm.bias, norm.eps, along)
    activated, mean, variance = results
    count = matrix.shape[along]
    with torch.no_grad():
        norm.num_batches_tracked += 1
        norm.running_mean.lerp_(mean, norm.momentum)
        norm.running_var.lerp_(variance * (count / (count - 1)), norm.momentum)
    return activated


class _NormReLU(torch.autograd.Function):
    """With c the centred matrix, max(c w / sqrt(variance + eps) + b, 0)."""

    @staticmethod
    def forward(
        context, matrix: Tensor, weight: Tensor, bias: Tensor, eps: float, along: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        mean = matrix.mean(dim=along)
        centred = matrix - mean.unsqueeze(along)
        squares = centred.square()
        variance = squares.mean(dim=along)
        inverse = (variance + eps).rsqrt()
        scale = (weight * inverse).unsqueeze(along)
        shift = bias.unsqueeze(along)
        # Memory that was just used is still in the cache.
        activated = torch.addcmul(shift, centred, scale, out=squares).relu_()
        context.save_for_backward(centred, activated, weight, inverse)
        context.mark_non_differentiable(mean, variance)
        context.along = along
        return activated, mean, variance

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, gradient: Tensor, *of_statistics: Tensor | None):
        centred, activated, weight, inverse = context.saved_tensors
        along = context.along
        gradient = torch.ops.aten.threshold_backward(gradient, activated, 0)
        to_bias = gradient.sum(dim=along)
        products = gradient * centred
        to_scale = products.sum(dim=along)
        scale = -weight * inverse / gradient.shape[along]
        slope = (scale * inverse.square() * to_scale).unsqueeze(along)
        shift = (scale * to_bias).unsqueeze(along)
        to_matrix = torch.addcmul(shift, centred, slope, out=products)
        to_matrix.addcmul_(gradient, (weight * inverse).unsqueeze(along))
        return to_matrix, to_scale * inverse, to_bias, None, None
