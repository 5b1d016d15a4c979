"""SAN: a self-attention network of four pooled stages.

Source: Prabhu and Varma's SAN/models/san_networks.py at commit 10fce8b, their
version of hszhao/SAN, model/san.py, for 32x32 images: 3x3 neighbourhoods and
one stage fewer.
"""

from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional as F

from reattn.config.models import SANSettings
from reattn.models.san_attention import Operation, conv1x1, local_attention

# Channels of the stages, as multiples of the first one's.
WIDENING = (1, 4, 8, 16)


def build(
    settings: SANSettings, image_size: tuple[int, int], num_classes: int
) -> "SAN":
    """The network of these settings, for images that their size allows."""
    return SAN(settings, num_classes)


class SAN(nn.Module):
    """Images (batch, 3, height, width) to logits (batch, classes)."""

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
        features = self.stem(images)
        for stage in self.stages:
            features = stage(features)
        return self.classifier(features.mean(dim=(2, 3)))


class Stem(nn.Module):
    """A 1x1 convolution into the network's width, normalised."""

    def __init__(self, width: int):
        super().__init__()
        self.convolution = conv1x1(3, width)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, images: Tensor) -> Tensor:
        return F.relu(self.norm(self.convolution(images)))


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


class Bottleneck(nn.Module):
    """x + W relu(norm(attention(relu(norm(x))))), W a 1x1 convolution.

    Args:
        width: Channels of x.
        operation: Which attention.
        pre_activation: Whether attention reads relu(norm(x)); if not, it reads x
            and the first norm is not used (D5).
    """

    def __init__(
        self, width: int, operation: Operation, *, pre_activation: bool = True
    ):
        super().__init__()
        self.pre_activation = pre_activation
        self.norm = nn.BatchNorm2d(width)
        self.attention = local_attention(operation, width)
        self.attention_norm = nn.BatchNorm2d(width // 4)
        self.expand = conv1x1(width // 4, width, bias=True)

    def forward(
        self, features: Tensor, keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Features and keys to the same; without keys, own ones are computed."""
        read = F.relu(self.norm(features)) if self.pre_activation else features
        gathered, keys = self.attention(read, keys)
        return features + self.expand(F.relu(self.attention_norm(gathered))), keys
