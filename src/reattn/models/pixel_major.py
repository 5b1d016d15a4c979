"""Features with the channels of a pixel side by side: (height, width, batch, channels).

Every pixel of every image is a row of one matrix. A linear map is then one product, a
normalisation runs along the rows, and both are two to four times as fast on a CPU as
on (batch, channels, height, width), where channels lie far apart.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from reattn.models import batch_norm, products


def from_images(images: Tensor) -> Tensor:
    """(batch, channels, height, width) to (height, width, batch, channels)."""
    return images.permute(2, 3, 0, 1).contiguous()


def linear(pixels: Tensor, convolution: nn.Conv2d) -> Tensor:
    """A 1x1 convolution of (height, width, batch, channels)."""
    return products.linear(pixels, convolution.weight.flatten(1), convolution.bias)


def norm_relu(pixels: Tensor, norm: nn.BatchNorm2d) -> Tensor:
    """Normalise each channel, then set what is negative to 0."""
    return batch_norm.norm_relu(pixels.flatten(0, -2), norm, along=0).view_as(pixels)


def max_pool(pixels: Tensor) -> Tensor:
    """The largest of 2x2 pixels, in each channel."""
    maps = pixels.flatten(2).unsqueeze(0).permute(0, 3, 1, 2)
    pooled = F.max_pool2d(maps, 2).permute(0, 2, 3, 1).squeeze(0)
    return pooled.unflatten(2, pixels.shape[2:])
