"""Learned relative position embeddings in two dimensions.

Source: Prabhu and Varma, main/models/attention.py at commit 57f8244.
"""

from torch import Tensor, nn

from reattn.config.models import Learned2DSettings
from reattn.models.content_free import ContentFreeAttention
from reattn.models.dropout import AttentionDropout
from reattn.models.encoder import EncoderClassifier
from reattn.models.learned2d_content import Learned2DContentAttention
from reattn.models.patches import grid_of
from reattn.models.relative import RelativeTables, by_offset


def build(
    settings: Learned2DSettings, image_size: tuple[int, int], num_classes: int
) -> nn.Module:
    """The model of these settings, for images that their size allows."""
    grid = grid_of(image_size, settings.patch_size)
    attention = Learned2DContentAttention if settings.content else Learned2DAttention
    return EncoderClassifier(settings, lambda: attention(settings, grid), num_classes)


class Learned2DAttention(ContentFreeAttention):
    """Without content: score = u . row[l - j] + v . column[k - i], not scaled.

    From query (i, j) to key (k, l); u and v are a head's. They are linear maps with
    a bias, which the softmax cancels.
    """

    def __init__(self, settings: Learned2DSettings, grid: tuple[int, int]):
        super().__init__(
            grid=grid,
            heads=settings.heads,
            width=settings.width,
            value_projection=settings.value_projection,
            dropout=AttentionDropout(settings.attention_dropout),
        )
        self.tables = RelativeTables(grid, settings.width)
        self.row_keys = nn.Linear(settings.width, settings.heads)
        self.column_keys = nn.Linear(settings.width, settings.heads)

    def axis_scores(self) -> tuple[Tensor, Tensor]:
        """(heads, h, h) of query row and key row; (heads, w, w) of columns."""
        height, width = self.grid
        by_row = by_offset(self.column_keys(self.tables.column.weight), height)
        by_column = by_offset(self.row_keys(self.tables.row.weight), width)
        return by_row.permute(2, 0, 1), by_column.permute(2, 0, 1)

    def scores(self) -> Tensor:
        """(heads, h, w, h, w)."""
        by_row, by_column = self.axis_scores()
        return by_row[:, :, None, :, None] + by_column[:, None, :, None, :]

    def dropped(self, probabilities: Tensor, batch: int) -> Tensor:
        """Each image has a mask of its own."""
        if not self.dropout.active:
            return probabilities
        return self.dropout(probabilities.expand(batch, *probabilities.shape))
