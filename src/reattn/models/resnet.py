"""ResNet18 for small images: no pooling after the first convolution.

Source: Prabhu and Varma's main/models/networks.py, class ResnetClassifier, which
is epfml/attention-cnn's models/resnet.py.
"""

from itertools import pairwise, starmap

from torch import Tensor, nn
from torch.nn import functional as F

from reattn.config.models import ResNetSettings
from reattn.models.residual import BasicBlock

# Channels of the stages, as multiples of the first one's; 18 layers in all.
WIDENING = (1, 2, 4, 8)
BLOCKS = 2


def build(
    settings: ResNetSettings, image_size: tuple[int, int], num_classes: int
) -> "ResNet":
    """The network of these settings; images of any size fit."""
    return ResNet(settings, num_classes)


class ResNet(nn.Module):
    """Images (batch, 3, height, width) to log-probabilities (batch, classes)."""

    def __init__(self, settings: ResNetSettings, num_classes: int):
        super().__init__()
        widths = [settings.width * factor for factor in WIDENING]
        self.features = nn.Sequential(
            nn.Conv2d(3, settings.width, 3, padding=1, bias=False),
            nn.BatchNorm2d(settings.width),
            nn.ReLU(inplace=True),
            *starmap(_stage, pairwise([settings.width, *widths])),
        )
        self.classifier = nn.Linear(widths[-1], num_classes)
        self.apply(_initialise)

    def forward(self, images: Tensor) -> Tensor:
        features = self.features(images)
        scores = self.classifier(features.mean(dim=(2, 3)))
        return F.log_softmax(scores, dim=-1)


def _stage(inputs: int, width: int) -> nn.Sequential:
    """Two blocks; all stages but the first halve the map."""
    if inputs == width:
        first = BasicBlock(width, width)
    else:
        projection = nn.Conv2d(inputs, width, 1, stride=2, bias=False)
        shortcut = nn.Sequential(projection, nn.BatchNorm2d(width))
        first = BasicBlock(inputs, width, stride=2, downsample=shortcut)
    return nn.Sequential(first, *(BasicBlock(width, width) for _ in range(BLOCKS - 1)))


def _initialise(module: nn.Module) -> None:
    # Batch normalisation starts at weight 1 and bias 0 by itself.
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
