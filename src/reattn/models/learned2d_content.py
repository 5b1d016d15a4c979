"""Learned relative position embeddings beside scores of content.

Source: Prabhu and Varma, main/models/attention.py at commit 57f8244.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from reattn.config.models import Learned2DSettings
from reattn.models.content import ContentAttention
from reattn.models.products import batched_product, linear
from reattn.models.recording import record
from reattn.models.relative import RelativeTables


class Learned2DContentAttention(ContentAttention):
    """With content: score = (q1 . row[l - j] + q2 . column[k - i] + q . k) / sqrt(D).

    q1 and q2 are the halves of q. Aligned, q is the query of (i, j) and k the key of
    (k, l). In the authors' form (D1) they are those of (j, i) and (l, k), while the
    offsets and the values stay where they are; such a map must be square.
    """

    def __init__(self, settings: Learned2DSettings, grid: tuple[int, int]):
        super().__init__(
            settings.heads,
            settings.width,
            settings.value_projection,
            settings.attention_dropout,
        )
        self.grid = grid
        self.transposes = settings.content_alignment == "authors"
        self.tables = RelativeTables(grid, settings.width // 2)

    def compared(self, features: Tensor) -> Tensor:
        """The map, transposed in the authors' form."""
        if not self.transposes:
            return features
        return features.unflatten(1, self.grid).transpose(1, 2).flatten(1, 2)

    def position_scores(self, queries: Tensor) -> Tensor:
        """(batch, heads, positions, positions), not scaled."""
        for_row, for_column = queries.unflatten(1, self.grid).chunk(2, dim=-1)
        along_row = torch.einsum("bijhd,jld->bhijl", for_row, self.tables.along_row())
        along_column = torch.einsum(
            "bijhd,ikd->bhijk", for_column, self.tables.along_column()
        )
        scores = along_column[..., :, None] + along_row[..., None, :]
        return scores.flatten(4).flatten(2, 3)

    def fold_positions(self) -> tuple[Tensor, Tensor]:
        """For each query column (w, heads * w, D); for each row (h, heads * h, D)."""
        query = self.query.weight.unflatten(0, (self.heads, self.width)) * self.scale
        for_row, for_column = query.chunk(2, dim=1)
        along_row = torch.einsum("hed,jle->jhld", for_row, self.tables.along_row())
        along_column = torch.einsum(
            "hed,ike->ihkd", for_column, self.tables.along_column()
        )
        return along_row.flatten(1, 2), along_column.flatten(1, 2)

    def folded_position_scores(
        self, compared: Tensor, weights: tuple[Tensor, Tensor]
    ) -> Tensor:
        """(batch, positions * heads, positions), scaled.

        The score of a key is that of its column plus that of its row: a product
        with a matrix that says in which they are, faster than sums that broadcast.
        """
        for_column, for_row = weights
        features = compared.unflatten(1, self.grid)
        of_columns = self._by_line(features.permute(2, 0, 1, 3), for_column)
        of_rows = self._by_line(features.permute(1, 0, 2, 3), for_row)
        lines = torch.cat(
            [of_columns.permute(1, 2, 0, 3, 4), of_rows.permute(1, 0, 2, 3, 4)], dim=-1
        )
        scores = linear(lines, self._lines_of_positions(lines))
        return scores.view(len(compared), -1, compared.shape[1])

    def _by_line(self, features: Tensor, weights: Tensor) -> Tensor:
        """(lines, batch, across, heads, lines) of (lines, batch, across, width)."""
        scores = batched_product(features.flatten(1, 2), weights)
        shape = (*features.shape[:3], self.heads, len(features))
        return scores.view(shape)

    def _lines_of_positions(self, like: Tensor) -> Tensor:
        """(h * w, w + h): one where a position lies in a column or in a row."""
        height, width = self.grid
        position = torch.arange(height * width, device=like.device)
        column = F.one_hot(position % width, width)
        row = F.one_hot(position // width, height)
        return torch.cat([column, row], dim=1).to(like.dtype)

    def record_probabilities(self, probabilities: Tensor) -> None:
        """(batch, heads, h, w, h, w)."""
        shape = (*probabilities.shape[:2], *self.grid, *self.grid)
        record(self, probabilities.view(shape))
