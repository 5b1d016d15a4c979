"""Hierarchical SAN: one pair of bottlenecks, passed through repeatedly.

Source: Prabhu and Varma's SAN/models/networks.py as of commit 4ea7d09 (the
`hier` branch of its forward). There is no pooling: every map has the image's
size.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from reattn.config.models import HierarchicalSANSettings
from reattn.models.batch_parts import in_parts
from reattn.models.forms import Form
from reattn.models.local_attention import conv1x1
from reattn.models.pixel_major import linear, norm_relu
from reattn.models.san import Stem
from reattn.models.san_bottleneck import Bottleneck

SHARED_BLOCKS = 2


def build(
    settings: HierarchicalSANSettings, image_size: tuple[int, int], num_classes: int
) -> "HierarchicalSAN":
    """The network of these settings, for images that their size allows."""
    return HierarchicalSAN(settings, num_classes)


class HierarchicalSAN(nn.Module):
    """Images (batch, 3, height, width) to logits (batch, classes).

    The first bottleneck computes keys in the first pass; all later ones use
    them, so the second bottleneck's own key map is never used (D6).
    """

    form: Form = "shipped"

    def __init__(self, settings: HierarchicalSANSettings, num_classes: int):
        super().__init__()
        width = settings.width
        self.stem = Stem(width)
        self.shared = nn.ModuleList(
            Bottleneck(
                width,
                settings.operation,
                pre_activation=settings.pre_activation == "official",
            )
            for _ in range(SHARED_BLOCKS)
        )
        self.passes = nn.ModuleList(Pass(width) for _ in range(settings.layers))
        self.classifier = nn.Linear(width, num_classes)

    def forward(self, images: Tensor) -> Tensor:
        if self.form != "plain":
            width = self.stem.convolution.out_channels
            return in_parts(self, self._shipped, images, width)
        features, keys = self.stem(images), None
        for one_pass in self.passes:
            features = one_pass.convolution(features)
            for block in self.shared:
                features, keys = block(features, keys)
            features = F.relu(one_pass.norm(features))
        return self.classifier(features.mean(dim=(2, 3)))

    def _shipped(self, images: Tensor) -> Tensor:
        features, keys = self.stem.of_images(images), None
        for one_pass in self.passes:
            features = linear(features, one_pass.convolution)
            for block in self.shared:
                features, keys = block.of_pixels(features, keys)
            features = norm_relu(features, one_pass.norm)
        return self.classifier(features.mean(dim=(0, 1)))


class Pass(nn.Module):
    """What a pass does not share: the convolution before and the norm after."""

    def __init__(self, width: int):
        super().__init__()
        self.convolution = conv1x1(width, width)
        self.norm = nn.BatchNorm2d(width)
