"""The transformer encoder that the models with 9 and 16 heads share.

Source: Prabhu and Varma, main/models/networks.py at commit 57f8244.
"""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from reattn.config.models import EncoderSettings
from reattn.models.patches import Patches
from reattn.models.products import Linear


class FeedForward(nn.Sequential):
    """Two linear maps with an activation between, for each position alone."""

    def __init__(self, width: int, hidden: int, activation: nn.Module):
        super().__init__()
        self.expand = Linear(width, hidden)
        self.activation = activation
        self.contract = Linear(hidden, width)


class PostNormBlock(nn.Module):
    """x = LN(x + attention(x)), then x = LN(x + W2 relu(W1 x)).

    Args:
        attention: Maps features and keys to features and keys.
        width: Features of a position.
        hidden: Hidden features of the feed-forward part.
    """

    def __init__(self, attention: nn.Module, width: int, hidden: int):
        super().__init__()
        self.attention = attention
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, hidden, nn.ReLU())
        self.feed_forward_norm = nn.LayerNorm(width)

    def forward(self, features: Tensor, keys: object = None) -> tuple[Tensor, object]:
        """(batch, positions, width) and the keys to use, or None to make them."""
        attended, keys = self.attention(features, keys)
        features = self.attention_norm(features + attended)
        features = self.feed_forward_norm(features + self.feed_forward(features))
        return features, keys


class Encoder(nn.Module):
    """Blocks one after the other, or one block over and over.

    A hierarchical encoder has one block. Its first pass makes the keys and every
    later pass uses them again; queries and values are those of the pass. So its
    parameters do not depend on the number of layers.

    Args:
        make_block: Makes one block.
        layers: Blocks, or passes through the one block.
        hierarchical: Whether there is one block.
    """

    def __init__(
        self, make_block: Callable[[], nn.Module], layers: int, hierarchical: bool
    ):
        super().__init__()
        self.layers = layers
        self.hierarchical = hierarchical
        blocks = 1 if hierarchical else layers
        self.blocks = nn.ModuleList(make_block() for _ in range(blocks))

    def forward(self, features: Tensor) -> Tensor:
        """(batch, positions, width) to the same shape."""
        keys = None
        for layer in range(self.layers):
            block = self.blocks[layer % len(self.blocks)]
            features, made = block(features, keys)
            keys = made if self.hierarchical else None
        return features


class EncoderClassifier(nn.Module):
    """Patches, an encoder, and a linear map of the mean over all positions.

    Args:
        settings: Of the model.
        make_attention: Makes the attention of one block.
        num_classes: Classes to tell apart.
    """

    def __init__(
        self,
        settings: EncoderSettings,
        make_attention: Callable[[], nn.Module],
        num_classes: int,
    ):
        super().__init__()
        width, hidden = settings.width, settings.feed_forward
        self.patches = Patches(settings.patch_size, width)
        self.encoder = Encoder(
            lambda: PostNormBlock(make_attention(), width, hidden),
            settings.layers,
            settings.hierarchical,
        )
        self.classifier = nn.Linear(width, num_classes)

    def forward(self, images: Tensor) -> Tensor:
        """(batch, 3, H, W) to log-probabilities (batch, classes)."""
        features = self.encoder(self.patches(images))
        return F.log_softmax(self.classifier(features.mean(dim=1)), dim=-1)
