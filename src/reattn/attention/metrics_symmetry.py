"""Whether pairs attend to one another alike: the antisymmetric share of the scores.

A head's scores s_ij, of query i and key j, are the sum of a symmetric and an
antisymmetric part. What is known of them is ln p_ij = s_ij - c_i: a softmax over keys
takes any number c_i of the query away, and c_i has parts in both,
(c_i + c_j) / 2 and (c_i - c_j) / 2. So both parts are taken without what such a number
could explain:

    S_ij = (ln p_ij + ln p_ji) / 2,  less its best fit u_i + u_j,
    A_ij = (ln p_ij - ln p_ji) / 2,  less its best fit v_i - v_j,
    asymmetry = sum A_ij^2 / (sum S_ij^2 + sum A_ij^2),

with least squares over all pairs. With all pairs known, that is to subtract from
ln p_ij the means of its row and column and add the mean of all, and to halve the
result plus and minus its transpose: S and A are orthogonal, so their squares add up
to those of the centred scores.

The same holds for what depends on the key alone, g_j: it differs from g_i + g_j,
which is symmetric, by a number of the query. So scores of the form
-(x_j - x_i - m)^T B (x_j - x_i - m), such as those of quadratic encoding, count as
symmetric wherever their centre m is: m only favours keys on one side of the map.

A probability that underflows to zero says nothing of its score but that it is low.
Its pair is left out of the sums and of the fits, which are then linear systems over
the pairs that are left.
"""

import torch
from torch import Tensor

LEAST_VARIANCE = 1e-10  # of scores; rounding in single precision makes up to 1e-12
_RIDGE = 1e-9  # makes the systems regular; their right sides lie in their range


def asymmetry(attention: Tensor) -> Tensor:
    """The share of the variance of the scores that is antisymmetric.

    The definition is this module's own; its docstring derives it.

    Args:
        attention: (..., h, w, h, w), summed over keys 1 or less, as softmax gave it.

    Returns:
        (...), in double precision: 0 if p could come from scores with s_ij = s_ji,
        1 if from scores with s_ij = -s_ji, about 1/2 if s_ij and s_ji have nothing
        to do with one another. NaN where the scores do not vary.
    """
    pairs = attention.flatten(-4, -3).flatten(-2)
    matrices = pairs.reshape(-1, *pairs.shape[-2:])
    known = matrices >= torch.finfo(matrices.dtype).tiny
    logarithms = torch.where(known, matrices, 1).double().log()
    whole = known.all(-1).all(-1)
    shares = torch.empty(len(matrices), dtype=torch.float64, device=matrices.device)
    shares[whole] = _share_of_all(logarithms[whole])
    for number in (~whole).nonzero().flatten().tolist():
        both = known[number] & known[number].T
        shares[number] = share_of_known(logarithms[number], both)
    return shares.reshape(pairs.shape[:-2])


def share_of_known(logarithms: Tensor, known: Tensor) -> Tensor:
    """Asymmetry where some pairs are left out.

    Args:
        logarithms: ln p, (n, n); finite everywhere.
        known: Which pairs count, (n, n), symmetric.
    """
    weights = known.double()
    degrees = torch.diag(weights.sum(1))
    symmetric = weights * (logarithms + logarithms.T) / 2
    other = weights * (logarithms - logarithms.T) / 2
    common = _solved(degrees + weights, symmetric.sum(1))
    opposed = _solved(degrees - weights, other.sum(1))
    symmetric = symmetric - weights * (common[:, None] + common[None, :])
    other = other - weights * (opposed[:, None] - opposed[None, :])
    return _share(symmetric, other, weights.sum())


def _share_of_all(logarithms: Tensor) -> Tensor:
    by_query = logarithms.mean(-1, keepdim=True)
    by_key = logarithms.mean(-2, keepdim=True)
    centred = logarithms - by_query - by_key + by_query.mean(-2, keepdim=True)
    turned = centred.transpose(-2, -1)
    count = logarithms.shape[-1] ** 2
    return _share((centred + turned) / 2, (centred - turned) / 2, count)


def _solved(system: Tensor, right: Tensor) -> Tensor:
    """A solution of normal equations, which may have many."""
    ridge = _RIDGE * torch.eye(len(system), dtype=system.dtype, device=system.device)
    return torch.linalg.solve(system + ridge, right)


def _share(symmetric: Tensor, other: Tensor, count: Tensor | int) -> Tensor:
    first, second = ((part**2).sum((-2, -1)) for part in (symmetric, other))
    varies = first + second > LEAST_VARIANCE * count
    return torch.where(varies, second / (first + second), torch.nan)
