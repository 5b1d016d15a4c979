"""Quadratic encoding: each head attends as a Gaussian around a centre.

Source: Cordonnier et al., ICLR 2020, section 3.2; Prabhu and Varma,
main/models/attention.py at commit 57f8244.
"""

import torch
from torch import Tensor, nn

from reattn.config.models import QuadraticSettings
from reattn.models.content_free import ContentFreeAttention
from reattn.models.dropout import HeldDropout
from reattn.models.encoder import EncoderClassifier
from reattn.models.patches import grid_of
from reattn.models.relative import offsets

_CENTRE_DEVIATION = 2.0
_SPREAD_DEVIATION = 0.01


def build(
    settings: QuadraticSettings, image_size: tuple[int, int], num_classes: int
) -> nn.Module:
    """The model of these settings, for images that their size allows."""
    grid = grid_of(image_size, settings.patch_size)
    return EncoderClassifier(
        settings, lambda: QuadraticAttention(settings, grid), num_classes
    )


class QuadraticAttention(ContentFreeAttention):
    """score(d) = t . (d1, d2, d1^2, d2^2, d1 d2), d = key - query, axis 1: rows.

    With the centre mu and the precision A = s^2 I or S S^T, t makes the score
    -(d - mu)^T A (d - mu) / 2 up to a constant. The authors' t differs (D2).

    Dropout: one mask for all images of a batch, as in the authors' code.
    """

    def __init__(self, settings: QuadraticSettings, grid: tuple[int, int]):
        calls = settings.layers if settings.hierarchical else 1
        heads = settings.heads
        super().__init__(
            grid=grid,
            heads=heads,
            width=settings.width,
            value_projection=False,
            dropout=HeldDropout(settings.attention_dropout, calls),
            separable=settings.isotropic,
        )
        self.isotropic = settings.isotropic
        self.gaussian_centre = settings.gaussian_centre
        self.centres = nn.Parameter(_CENTRE_DEVIATION * torch.randn(heads, 2))
        noise = torch.randn(heads) if self.isotropic else torch.randn(heads, 2, 2)
        mean = torch.ones(()) if self.isotropic else torch.eye(2)
        self.spreads = nn.Parameter(mean + _SPREAD_DEVIATION * noise)

    def precisions(self) -> Tensor:
        """A, (heads, 2, 2)."""
        if self.isotropic:
            identity = torch.eye(2, device=self.spreads.device)
            return self.spreads.square()[:, None, None] * identity
        return self.spreads @ self.spreads.transpose(1, 2)

    def targets(self) -> Tensor:
        """t, (heads, 5): the factors of d1, d2, d1^2, d2^2 and d1 d2."""
        precisions = self.precisions()
        a, b, c = precisions[:, 0, 0], precisions[:, 0, 1], precisions[:, 1, 1]
        first, second = self.centres.unbind(1)
        along_second = c + second if self.gaussian_centre == "authors" else c * second
        return torch.stack(
            [a * first + b * second, along_second + b * first, -a / 2, -c / 2, -b],
            dim=1,
        )

    def axis_scores(self) -> tuple[Tensor, Tensor]:
        """The terms of rows alone and of columns alone."""
        targets = self.targets()[..., None, None]
        rows, columns = self._offsets(targets)
        return (
            targets[:, 0] * rows + targets[:, 2] * rows.square(),
            targets[:, 1] * columns + targets[:, 3] * columns.square(),
        )

    def _offsets(self, like: Tensor) -> list[Tensor]:
        return [offsets(n, like.device).to(like.dtype) for n in self.grid]

    def scores(self) -> Tensor:
        """(heads, h, w, h, w)."""
        by_row, by_column = self.axis_scores()
        scores = by_row[:, :, None, :, None] + by_column[:, None, :, None, :]
        if self.isotropic:
            return scores
        mixed = self.targets()[:, 4]
        rows, columns = self._offsets(mixed)
        products = rows[:, None, :, None] * columns[None, :, None, :]
        return scores + mixed[:, None, None, None, None] * products

    def dropped(self, probabilities: Tensor, batch: int) -> Tensor:
        """One mask for all images."""
        return self.dropout(probabilities)
