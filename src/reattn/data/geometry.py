"""Crop, flip and rotation of a batch, each image by its own parameters.

Crop and flip equal torchvision's exactly. Rotation is Pillow's nearest-neighbour
rotation, down to its 16.16 fixed-point arithmetic, so it equals torchvision's on
Pillow images; torchvision's on tensors rounds some border pixels otherwise.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

_FIXED_POINT = 1 << 16


def crop(images: Tensor, top: Tensor, left: Tensor, padding: int) -> Tensor:
    """Pad with zeros on all sides, then cut the original size out.

    Args:
        images: Of shape (B, C, H, W).
        top: First row of each cut within the padded image, integers of shape (B,).
        left: First column, likewise.
        padding: Zeros added on each side.
    """
    height, width = images.shape[2:]
    padded = functional.pad(images, [padding] * 4)
    cuts = padded.unfold(2, height, 1).unfold(3, width, 1)
    index = torch.arange(len(images), device=images.device)
    return cuts[index, :, top.to(images.device), left.to(images.device)]


def flip(images: Tensor, chosen: Tensor) -> Tensor:
    """Mirror the chosen images left and right.

    Args:
        images: Of shape (B, C, H, W).
        chosen: Booleans of shape (B,).
    """
    chosen = chosen.to(images.device)[:, None, None, None]
    return torch.where(chosen, images.flip(3), images)


def rotate(images: Tensor, degrees: Tensor) -> Tensor:
    """Rotate counter-clockwise about the centre; zeros come in.

    Args:
        images: Of shape (B, C, H, W).
        degrees: Angles of shape (B,).
    """
    channels, height, width = images.shape[1:]
    rows, columns = _source_pixels(degrees, height, width, images.device)
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    index = rows.clamp(0, height - 1) * width + columns.clamp(0, width - 1)
    index = index.flatten(1)[:, None].expand(-1, channels, -1)
    rotated = images.flatten(2).gather(2, index).view_as(images)
    return rotated * inside[:, None]


def _source_pixels(
    degrees: Tensor, height: int, width: int, device: torch.device
) -> tuple[Tensor, Tensor]:
    """Row and column that each pixel of the result takes its value from."""
    # Few numbers that need float64, which not every device has.
    radians = -degrees.detach().cpu().double() * (math.pi / 180)
    cosine, sine = radians.cos(), radians.sin()
    across, down = 0.5 - width / 2, 0.5 - height / 2
    column_start = cosine * across + sine * down + width / 2
    row_start = -sine * across + cosine * down + height / 2
    cosine, sine, column_start, row_start = (
        torch.floor(value * _FIXED_POINT + 0.5).long().to(device)[:, None, None]
        for value in (cosine, sine, column_start, row_start)
    )
    row = torch.arange(height, device=device)[:, None]
    column = torch.arange(width, device=device)
    source_rows = (row_start - sine * column + cosine * row) >> 16
    source_columns = (column_start + cosine * column + sine * row) >> 16
    return source_rows, source_columns
