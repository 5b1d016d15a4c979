"""Pixels as the models take them."""

from collections.abc import Sequence

import torch
from torch import Tensor


def normalise(images: Tensor, mean: Sequence[float], std: Sequence[float]) -> Tensor:
    """Scale uint8 images to float32: (x / 255 - mean) / std.

    Args:
        images: uint8 of shape (..., 3, H, W).
        mean: Of each channel on the scale 0 to 1.
        std: Of each channel on the scale 0 to 1.
    """
    shift = torch.tensor(mean, device=images.device, dtype=torch.float32)
    scale = torch.tensor(std, device=images.device, dtype=torch.float32)
    return (images.float() / 255 - shift[:, None, None]) / scale[:, None, None]
