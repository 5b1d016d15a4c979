"""The convolutional stem of the vision transformer, and its class token.

Source: Prabhu and Varma, ViT/models/networks.py at commit 57f8244.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reattn.config.models import ViTSettings
from reattn.models.patches import IMAGE_CHANNELS
from reattn.models.products import Linear
from reattn.models.residual import BasicBlock


class StemPatches(nn.Module):
    """A convolution and two residual blocks; patches of what they make; a token.

    Args:
        settings: Of the model.
        grid: Rows and columns of patches.
    """

    def __init__(self, settings: ViTSettings, grid: tuple[int, int]):
        super().__init__()
        channels = settings.stem_width
        self.patch_size = settings.patch_size
        self.token_features = channels * settings.patch_size**2
        self.stem = nn.Sequential(
            nn.Conv2d(IMAGE_CHANNELS, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(inplace=True),
            nn.Sequential(*(_residual_block(channels) for _ in range(2))),
        )
        self.projection = Linear(self.token_features, settings.width)
        self.position = nn.Embedding(1 + grid[0] * grid[1], settings.width)
        self.token = None
        if settings.class_token == "learned":
            self.token = nn.Parameter(torch.rand(self.token_features))

    def forward(self, images: Tensor, token: Tensor) -> Tensor:
        """Images and a token (batch, features, 1) to (batch, 1 + patches, width)."""
        side = self.patch_size
        patches = F.unfold(self.stem(images), side, stride=side)
        features = torch.cat([token.to(patches), patches], dim=2).transpose(1, 2)
        return self.projection(features) + self.position.weight


def _residual_block(channels: int) -> BasicBlock:
    """A block with the weights that torchvision's ResNet18 starts from.

    The authors take theirs out of such a network; the convolution before them is
    their own and starts from torch's default.
    """
    block = BasicBlock(channels, channels)
    for module in block.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return block
