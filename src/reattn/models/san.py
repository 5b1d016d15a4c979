"""SAN: a self-attention network of four pooled stages.

Source: Prabhu and Varma's SAN/models/san_networks.py at commit 10fce8b, their
version of hszhao/SAN, model/san.py, for 32x32 images: 3x3 neighbourhoods and
one stage fewer.
"""

from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional as F

from reattn.config.models import SANSettings
from reattn.models.batch_parts import in_parts
from reattn.models.forms import Form
from reattn.models.local_attention import conv1x1
from reattn.models.pixel_major import from_images, linear, max_pool, norm_relu
from reattn.models.san_attention import Operation
from reattn.models.san_bottleneck import Bottleneck

# Channels of the stages, as multiples of the first one's.
WIDENING = (1, 4, 8, 16)


def build(
    settings: SANSettings, image_size: tuple[int, int], num_classes: int
) -> "SAN":
    """The network of these settings, for images that their size allows."""
    return SAN(settings, num_classes)


class SAN(nn.Module):
    """Images (batch, 3, height, width) to logits (batch, classes)."""

    form: Form = "shipped"

    def __init__(self, settings: SANSettings, num_classes: int):
        super().__init__()
        widths = [settings.width * factor for factor in WIDENING[: settings.stages]]
        self.stem = Stem(settings.width)
        self.stages = nn.ModuleList(
            Stage(before, width, settings.blocks, settings.operation)
            for before, width in pairwise([settings.width, *widths])
        )
        self.classifier = nn.Linear(widths[-1], num_classes)

    def forward(self, images: Tensor) -> Tensor:
        if self.form != "plain":
            width = self.stem.convolution.out_channels
            return in_parts(self, self._shipped, images, width)
        features = self.stem(images)
        for stage in self.stages:
            features = stage(features)
        return self.classifier(features.mean(dim=(2, 3)))

    def _shipped(self, images: Tensor) -> Tensor:
        features = self.stem.of_images(images)
        for stage in self.stages:
            features = stage.of_pixels(features)
        return self.classifier(features.mean(dim=(0, 1)))


class Stem(nn.Module):
    """A 1x1 convolution into the network's width, normalised."""

    def __init__(self, width: int):
        super().__init__()
        self.convolution = conv1x1(3, width)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, images: Tensor) -> Tensor:
        return F.relu(self.norm(self.convolution(images)))

    def of_images(self, images: Tensor) -> Tensor:
        """From images to features (height, width, batch, width)."""
        features = linear(from_images(images), self.convolution)
        return norm_relu(features, self.norm)


class Stage(nn.Module):
    """Pooling to half the size, more channels, then bottlenecks."""

    def __init__(self, inputs: int, width: int, blocks: int, operation: Operation):
        super().__init__()
        self.widen = conv1x1(inputs, width)
        self.blocks = nn.ModuleList(Bottleneck(width, operation) for _ in range(blocks))
        self.norm = nn.BatchNorm2d(width)

    def forward(self, features: Tensor) -> Tensor:
        features = self.widen(F.max_pool2d(features, 2))
        for block in self.blocks:
            features, _ = block(features)
        return F.relu(self.norm(features))

    def of_pixels(self, features: Tensor) -> Tensor:
        """The same of features (height, width, batch, channels)."""
        features = linear(max_pool(features), self.widen)
        for block in self.blocks:
            features, _ = block.of_pixels(features)
        return norm_relu(features, self.norm)
