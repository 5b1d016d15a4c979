"""Offsets between positions of a grid, key minus query, and what is learned of them."""

import torch
from torch import Tensor, nn


def offsets(size: int, device: torch.device | None = None) -> Tensor:
    """Key minus query along one axis, (size, size): query, key."""
    positions = torch.arange(size, device=device)
    return positions[None, :] - positions[:, None]


def by_offset(table: Tensor, size: int) -> Tensor:
    """Rows of a table of relative positions, for each query and key of one axis.

    Args:
        table: (2 * size - 1, ...): the offsets 1 - size to size - 1.
        size: Positions of the axis.

    Returns:
        (size, size, ...): query, key.
    """
    return table[offsets(size, table.device) + size - 1]


class RelativeTables(nn.Module):
    """One vector for every offset along a row, and one along a column.

    Args:
        grid: Rows and columns of positions, h and w.
        features: Of a vector.
    """

    def __init__(self, grid: tuple[int, int], features: int):
        super().__init__()
        self.height, self.width = grid
        self.row = nn.Embedding(2 * self.width - 1, features)
        self.column = nn.Embedding(2 * self.height - 1, features)

    def along_row(self) -> Tensor:
        """(w, w, features): query column, key column."""
        return by_offset(self.row.weight, self.width)

    def along_column(self) -> Tensor:
        """(h, h, features): query row, key row."""
        return by_offset(self.column.weight, self.height)
