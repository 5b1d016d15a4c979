"""Colour jitter of a batch, each image by its own factors in its own order.

Every operation follows Pillow's 8-bit arithmetic, which torchvision uses on
Pillow images: values are cut, not rounded, after each step, and hue passes
through an 8-bit HSV. torchvision's tensor operations keep a finer hue.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

_LUMA = (19595, 38470, 7471)  # ITU-R 601, as 16-bit fractions


@dataclass(frozen=True)
class JitterParameters:
    """What colour jitter does to each of B images.

    Attributes:
        applied: Whether the image is changed at all, shape (B,).
        order: The operations in turn, shape (B, 4); 0 brightness, 1 contrast,
            2 saturation, 3 hue.
        factors: Of the operations 0 to 3, shape (B, 4).
    """

    applied: Tensor
    order: Tensor
    factors: Tensor


def jitter(images: Tensor, parameters: JitterParameters) -> Tensor:
    """Apply the four operations in the order drawn for each image.

    Args:
        images: uint8 of shape (B, 3, H, W); left as they are.
        parameters: One row an image.
    """
    result = images.clone()
    # Grouped on the CPU: one transfer instead of one for each group.
    order = parameters.order.cpu()
    order = order.masked_fill(~parameters.applied.cpu()[:, None], -1)
    factors = parameters.factors.to(images.device)
    for turn in order.T:
        for operation, adjust in enumerate(_OPERATIONS):
            group = (turn == operation).nonzero().squeeze(1).to(images.device)
            if len(group):
                result[group] = adjust(result[group], factors[group, operation])
    return result


def adjust_brightness(images: Tensor, factor: Tensor) -> Tensor:
    """Blend with black; images uint8 (B, 3, H, W), factor (B,)."""
    return _blend(torch.zeros_like(images[:, :1]), images, factor)


def adjust_contrast(images: Tensor, factor: Tensor) -> Tensor:
    """Blend with the image's mean grey, a whole number as in Pillow."""
    grey = _grey(images).flatten(1)
    count = grey.shape[1]
    mean = (2 * grey.sum(dim=1) + count) // (2 * count)
    return _blend(mean[:, None, None, None], images, factor)


def adjust_saturation(images: Tensor, factor: Tensor) -> Tensor:
    """Blend with the grey image."""
    return _blend(_grey(images), images, factor)


def adjust_hue(images: Tensor, factor: Tensor) -> Tensor:
    """Turn the hue by `factor` of a full circle, in steps of 1/255."""
    hue, saturation, value = _rgb_to_hsv(images)
    steps = (factor.double() * 255).trunc().long()
    return _hsv_to_rgb((hue + steps[:, None, None]) % 256, saturation, value)


def _blend(base: Tensor, images: Tensor, factor: Tensor) -> Tensor:
    base, images = base.float(), images.float()
    blended = base + factor.float()[:, None, None, None] * (images - base)
    return blended.clamp(0, 255).to(torch.uint8)


def _grey(images: Tensor) -> Tensor:
    red, green, blue = (
        images[:, channel].int() * weight for channel, weight in enumerate(_LUMA)
    )
    return ((red + green + blue + (1 << 15)) >> 16)[:, None]


def _rgb_to_hsv(images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Hue, saturation (float64, whole numbers 0 to 255) and value (uint8)."""
    high, low = images.amax(dim=1), images.amin(dim=1)
    # A grey pixel has no hue: any divisor gives 0 for it.
    spread = (high - low).clamp(min=1).float()
    red, green, blue = (
        ((high - images[:, channel]).float() / spread).double() for channel in range(3)
    )
    hue = torch.where(images[:, 1] == high, 2 + red - blue, 4 + green - red)
    hue = torch.where(images[:, 0] == high, blue - green, hue)
    hue = torch.where(high == low, torch.zeros_like(hue), hue)
    # Pillow keeps single precision between the steps.
    hue = (hue.float().double() / 6 + 1).fmod(1).float().double()
    saturation = (high - low).float() / high.clamp(min=1).float()
    return (hue * 255).floor(), (saturation.double() * 255).floor(), high


def _hsv_to_rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    """The inverse; a stack of channels, uint8 of shape (B, 3, H, W)."""
    sixth = hue * 6 / 255
    sector = sixth.floor()
    part = (sixth - sector).float().double()
    saturation = (saturation / 255).float().double()
    bright = value.double()
    lowest = _rounded(bright * (1 - saturation))
    falling = _rounded(bright * (1 - saturation * part))
    rising = _rounded(bright * (1 - saturation * (1 - part)))
    columns = torch.stack([value, rising, lowest, falling])
    chosen = _SECTORS.to(hue.device)[(sector.long() % 6)]
    return columns.gather(0, chosen.movedim(-1, 0)).movedim(0, 1)


def _rounded(values: Tensor) -> Tensor:
    return (values + 0.5).floor().clamp(0, 255).to(torch.uint8)


# Which of value, rising, lowest, falling (0 to 3) red, green and blue take.
_SECTORS = torch.tensor(
    [[0, 1, 2], [3, 0, 2], [2, 0, 1], [2, 3, 0], [1, 2, 0], [0, 2, 3]]
)
_OPERATIONS = (adjust_brightness, adjust_contrast, adjust_saturation, adjust_hue)
