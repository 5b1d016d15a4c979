"""Convolution-likeness: how much of the attention sits at one fixed shift.

A head of self-attention acts as one tap of a convolution's kernel if every query q
attends to the key at one shift d: p(q, q + d) = 1 (Cordonnier, Loukas and Jaggi, "On
the Relationship between Self-Attention and Convolutional Layers", ICLR 2020, section
3, Lemma 1). How near a head comes to that is

    concentration = max_d mean { p(q, q + d) : q such that q + d lies in the map }.

A shift that few queries can make would say little: with the same key for all
queries, the shift from corner to corner would hold all of that key's weight. So d
runs over the shifts that at least a quarter of the queries can make, those of up to
half the map both ways at once among them.
"""

import torch
from torch import Tensor

LEAST_SUPPORT = 0.25  # share of the queries that can make a shift


def shares_by_shift(attention: Tensor, *, local: bool = False) -> Tensor:
    """The mean weight of queries at each fixed shift of the key, as above.

    Args:
        attention: (..., h, w, h, w), or (..., h, w, 3, 3) if local.
        local: Whether it is over a neighbourhood. Places that a border mirrors are
            outside of the map.

    Returns:
        (..., 2h - 1, 2w - 1), or (..., 3, 3): by row and column of the shift, the
        middle being none. Shifts that too few queries can make have 0.
    """
    grid = attention.shape[-4:-2]
    reach = [size // 2 if local else size - 1 for size in attention.shape[-2:]]
    queries = _queries(grid, reach).to(attention.device)
    sums = _local_sums(attention) if local else _grid_sums(attention)
    enough = queries >= LEAST_SUPPORT * grid[0] * grid[1]
    return torch.where(enough, sums / queries.clamp(min=1), 0)


def best_shift(shares: Tensor) -> tuple[Tensor, Tensor]:
    """The shift that holds most, and what it holds.

    Args:
        shares: (..., rows, columns) of `shares_by_shift`, or a mean of such.

    Returns:
        Its share (...), and its row and column (..., 2), key minus query, in
        patches.
    """
    rows, columns = shares.shape[-2:]
    most, place = shares.flatten(-2).max(-1)
    row, column = place // columns, place % columns
    return most, torch.stack([row - rows // 2, column - columns // 2], -1)


def concentration(attention: Tensor, *, local: bool = False) -> tuple[Tensor, Tensor]:
    """The share of the attention at the fixed shift that holds most of it.

    Args:
        attention: (..., h, w, h, w), or (..., h, w, 3, 3) if local.
        local: Whether it is over a neighbourhood.

    Returns:
        As `best_shift`: the share, 1 if the head is a convolution's tap and 1/n if
        it attends to all n keys alike; and the shift.
    """
    return best_shift(shares_by_shift(attention, local=local))


def _queries(grid: torch.Size, reach: list[int]) -> Tensor:
    """How many queries can make each shift of up to `reach`."""
    rows, columns = (
        (size - torch.arange(-most, most + 1).abs()).clamp(min=0)
        for size, most in zip(grid, reach, strict=True)
    )
    return rows[:, None] * columns[None, :]


def _grid_sums(attention: Tensor) -> Tensor:
    """Weights at each shift, added up over queries."""
    by_axis = attention.movedim((-4, -2), (-2, -1))  # columns twice, then rows twice
    by_row = _diagonal_sums(by_axis).movedim(-1, -3)
    return _diagonal_sums(by_row)


def _diagonal_sums(matrices: Tensor) -> Tensor:
    """(..., n, n) to (..., 2n - 1): sums over what has one column minus row."""
    size = matrices.shape[-1]
    offsets = range(1 - size, size)
    sums = [matrices.diagonal(offset, -2, -1).sum(-1) for offset in offsets]
    return torch.stack(sums, -1)


def _local_sums(weights: Tensor) -> Tensor:
    """Weights at each place of the neighbourhood that lies inside of the map."""
    rows, columns = (
        _inside(size, reach // 2).to(weights)
        for size, reach in zip(weights.shape[-4:-2], weights.shape[-2:], strict=True)
    )
    return torch.einsum("...ijkl,ik,jl->...kl", weights, rows, columns)


def _inside(size: int, reach: int) -> Tensor:
    """(size, 2 reach + 1): whether a shift from each place stays on the line."""
    keys = torch.arange(size)[:, None] + torch.arange(-reach, reach + 1)
    return (keys >= 0) & (keys < size)
