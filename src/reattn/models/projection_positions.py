"""Scores of offsets between positions: of the query, or of the head alone."""

import torch
from torch import Tensor, nn

from reattn.models.relative import RelativeTables, by_offset


class PositionsOfQueries(nn.Module):
    """(q1 . row[l - j] + q2 . column[k - i]) / sqrt(D), q1 and q2 the halves of q.

    Args:
        grid: Rows and columns of positions.
        width: Features of a position and of a query, D.
        heads: Not read: queries are a head's already.
    """

    def __init__(self, grid: tuple[int, int], width: int, heads: int):
        super().__init__()
        self.grid, self.scale = grid, width**-0.5
        self.tables = RelativeTables(grid, width // 2)

    def forward(self, queries: Tensor) -> Tensor:
        """(batch, heads, positions, positions) of (batch, heads, positions, D)."""
        for_row, for_column = queries.unflatten(2, self.grid).chunk(2, dim=-1)
        along_row = torch.einsum("bhijd,jld->bhijl", for_row, self.tables.along_row())
        along_column = torch.einsum(
            "bhijd,ikd->bhijk", for_column, self.tables.along_column()
        )
        scores = along_column[..., :, None] + along_row[..., None, :]
        return self.scale * scores.flatten(4).flatten(2, 3)


class PositionsOfHeads(nn.Module):
    """u . row[l - j] + v . column[k - i], u and v a head's, not scaled.

    As `reattn.models.learned2d.Learned2DAttention` scores without content, with tables
    of D / 2 features.

    Args:
        grid: Rows and columns of positions.
        width: Features of a position, D.
        heads: H.
    """

    def __init__(self, grid: tuple[int, int], width: int, heads: int):
        super().__init__()
        self.grid = grid
        self.tables = RelativeTables(grid, width // 2)
        self.row_keys = nn.Linear(width // 2, heads)
        self.column_keys = nn.Linear(width // 2, heads)

    def forward(self, queries: Tensor) -> Tensor:
        """(1, heads, positions, positions), whatever the queries are."""
        height, width = self.grid
        by_row = by_offset(self.column_keys(self.tables.column.weight), height)
        by_column = by_offset(self.row_keys(self.tables.row.weight), width)
        scores = by_row[:, None, :, None] + by_column[None, :, None, :]
        return scores.permute(4, 0, 1, 2, 3).flatten(3).flatten(1, 2)[None]
