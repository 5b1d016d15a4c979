"""Neighbours in maps (channels, height, width, batch), the border reflected.

The same pixel of all images lies side by side, so a shifted view has long runs in
memory even where maps are small.
"""

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional as F

from reattn.models.neighbourhoods import KERNEL


def around(maps: Tensor) -> Tensor:
    """The nine values around each pixel, (channels, 9, height, width, batch)."""
    if torch.is_grad_enabled():
        return _Around.apply(maps)
    return gather(maps, neighbour_index(*maps.shape[1:3], maps.device))


def views(padded: Tensor) -> list[Tensor]:
    """Nine shifted views of (..., height + 2, width + 2, batch), row by row."""
    height, width = padded.shape[-3] - 2, padded.shape[-2] - 2
    return [
        padded[..., row : row + height, column : column + width, :]
        for row in range(KERNEL)
        for column in range(KERNEL)
    ]


@lru_cache(maxsize=64)
def neighbour_index(height: int, width: int, device: torch.device) -> Tensor:
    """Numbers of the nine pixels around each pixel, (9, height, width)."""
    # A tensor made in inference mode could not be used outside it.
    with torch.inference_mode(False):
        numbers = reflection_index(height, width, device)
        return torch.stack(views(numbers.unsqueeze(2))).squeeze(3)


@lru_cache(maxsize=64)
def reflection_index(height: int, width: int, device: torch.device) -> Tensor:
    """Numbers of the pixels of a padded map, (height + 2, width + 2)."""
    with torch.inference_mode(False):
        numbers = torch.arange(height * width, dtype=torch.float64)
        maps = numbers.view(1, 1, height, width)
        padded = F.pad(maps, (1, 1, 1, 1), mode="reflect")
        return padded[0, 0].long().to(device)


def gather(maps: Tensor, index: Tensor) -> Tensor:
    """Pixels by their numbers: (channels, *index.shape, batch)."""
    gathered = maps.flatten(1, 2).index_select(1, index.flatten())
    return gathered.unflatten(1, index.shape)


def reflect(maps: Tensor) -> Tensor:
    """One pixel more on every side, mirrored at the border pixel."""
    return gather(maps, reflection_index(*maps.shape[1:3], maps.device))


def unreflect(padded: Tensor) -> Tensor:
    """The gradient of `reflect`, from that of its result, which is overwritten."""
    padded[:, 2] += padded[:, 0]
    padded[:, -3] += padded[:, -1]
    padded[:, :, 2] += padded[:, :, 0]
    padded[:, :, -3] += padded[:, :, -1]
    return padded[:, 1:-1, 1:-1]


class _Around(torch.autograd.Function):
    """Autograd adds what it gathered one number at a time; here, one view at a time."""

    @staticmethod
    def forward(maps: Tensor) -> Tensor:
        return gather(maps, neighbour_index(*maps.shape[1:3], maps.device))

    @staticmethod
    def setup_context(context, inputs, output) -> None:
        pass

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, gradient: Tensor) -> Tensor:
        channels, _, height, width, batch = gradient.shape
        padded = gradient.new_zeros(channels, height + 2, width + 2, batch)
        for shift, view in enumerate(views(padded)):
            view += gradient[:, shift]
        return unreflect(padded)
