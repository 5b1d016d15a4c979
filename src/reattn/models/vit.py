"""Vision transformer behind a convolutional stem, with a token for the class.

Source: Prabhu and Varma, ViT/models/networks.py at commit 57f8244.
"""

import torch
from torch import Tensor, nn

from reattn.config.models import ViTSettings
from reattn.errors import ReattnError
from reattn.models.content import ContentAttention
from reattn.models.encoder import Encoder, FeedForward
from reattn.models.patches import grid_of
from reattn.models.recording import TokenMass, record
from reattn.models.vit_stem import StemPatches


def build(
    settings: ViTSettings, image_size: tuple[int, int], num_classes: int
) -> nn.Module:
    """The model of these settings, for images that their size allows."""
    grid = grid_of(image_size, settings.patch_size)
    return VisionTransformer(settings, grid, num_classes)


class ViTAttention(ContentAttention):
    """Attention between positions and the class token, which comes first."""

    def __init__(self, settings: ViTSettings, grid: tuple[int, int]):
        super().__init__(
            settings.heads,
            settings.width,
            value_projection=True,
            dropout=settings.attention_dropout,
        )
        self.grid = grid

    def record_probabilities(self, probabilities: Tensor) -> None:
        """The image-to-image part, and what goes to and from the token."""
        shape = (*probabilities.shape[:2], *self.grid)
        record(
            self,
            probabilities[..., 1:, 1:].reshape(*shape, *self.grid),
            TokenMass(
                to_token=probabilities[..., 1:, 0].reshape(shape),
                from_token=probabilities[..., 0, 1:].reshape(shape),
                on_itself=probabilities[..., 0, 0],
            ),
        )


class PreNormBlock(nn.Module):
    """y = LN(x), x = y + attention(y); y = LN(x), x = y + W2 gelu(W1 y).

    That is the authors' form (D8). In the other form the residual adds x, not y.
    """

    def __init__(self, settings: ViTSettings, grid: tuple[int, int]):
        super().__init__()
        width = settings.width
        self.adds_normalised = settings.residual == "authors"
        self.attention = ViTAttention(settings, grid)
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, settings.feed_forward, nn.GELU())
        self.feed_forward_norm = nn.LayerNorm(width)

    def forward(self, features: Tensor, keys: object = None) -> tuple[Tensor, object]:
        """(batch, positions, width) and the keys to use, or None to make them."""
        normalised = self.attention_norm(features)
        attended, keys = self.attention(normalised, keys)
        features = self._residual(features, normalised) + attended
        normalised = self.feed_forward_norm(features)
        residual = self._residual(features, normalised)
        return residual + self.feed_forward(normalised), keys

    def _residual(self, features: Tensor, normalised: Tensor) -> Tensor:
        return normalised if self.adds_normalised else features


class VisionTransformer(nn.Module):
    """The stem's patches and a token, an encoder, a linear map of their mean.

    In the authors' form (D7) the token is uniform noise, new at every forward pass,
    and part of the mean. In the other form it is a learned vector.

    Args:
        settings: Of the model.
        grid: Rows and columns of patches.
        num_classes: Classes to tell apart.
    """

    def __init__(self, settings: ViTSettings, grid: tuple[int, int], num_classes: int):
        super().__init__()
        self.patches = StemPatches(settings, grid)
        self.encoder = Encoder(
            lambda: PreNormBlock(settings, grid),
            settings.layers,
            settings.hierarchical,
        )
        self.classifier = nn.Linear(settings.width, num_classes)

    def forward(
        self,
        images: Tensor,
        *,
        class_token: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Images to logits.

        Args:
            images: (batch, 3, H, W).
            class_token: (batch, features of a patch, 1), instead of a drawn or a
                learned one.
            generator: Where the noise is drawn from; none: torch's global CPU
                stream, from which it takes one uniform draw.

        Returns:
            (batch, classes).

        Raises:
            ReattnError: `class_token` has another shape.
        """
        token = self._token(len(images), class_token, generator)
        features = self.encoder(self.patches(images, token))
        return self.classifier(features.mean(dim=1))

    def _token(
        self,
        batch: int,
        given: Tensor | None,
        generator: torch.Generator | None,
    ) -> Tensor:
        shape = (batch, self.patches.token_features, 1)
        if given is not None:
            if given.shape != shape:
                raise ReattnError(
                    f"class_token has shape {tuple(given.shape)}; give {shape}."
                )
            return given
        if self.patches.token is not None:
            return self.patches.token[None, :, None].expand(shape)
        device = None if generator is None else generator.device
        return torch.rand(shape, generator=generator, device=device)
