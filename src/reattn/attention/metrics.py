"""What attention is like, in numbers: one a head, each a mean over queries.

Attention over a grid is a tensor (..., h, w, h, w): query row and column, then key row
and column; over the keys of a query it adds up to 1. With `local=True` it is
(..., h, w, 3, 3), a query's weights over its neighbourhood, itself in the middle. At a
border a neighbourhood is mirrored, which keeps every distance; two places in it may
then be the same pixel, and count as two. Results keep the leading axes.

How much sits at one shift is in `metrics_shifts`, whether the scores are symmetric in
`metrics_symmetry`.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

BITS = 1 / math.log(2)  # of one nat


def over_image_keys(attention: Tensor) -> Tensor:
    """Attention whose weights add up to 1 over the keys that it has.

    A class token takes a part of a query's attention; p_k / sum_l p_l is what the
    rest of it does, as if the token were not there.

    Args:
        attention: (..., h, w, h, w), the part that goes from image to image.
    """
    return attention / attention.sum((-2, -1), keepdim=True)


def self_mass(attention: Tensor, *, local: bool = False) -> Tensor:
    """The attention that queries give to themselves, mean_q p(q, q).

    Attention to the current token in Clark et al., "What Does BERT Look At?"
    (BlackboxNLP 2019), section 3.1.

    Returns:
        Between 0 and 1; uniform attention over n keys has 1/n.
    """
    return _own(attention, local).mean((-2, -1))


def elsewhere(attention: Tensor, *, local: bool = False) -> Tensor:
    """The share of queries whose largest weight lies on another key.

    mean_q [max_k p(q, k) > p(q, q)]; a tie with oneself does not count.

    Returns:
        Between 0 and 1.
    """
    largest = attention.amax((-2, -1))
    return (largest > _own(attention, local)).double().mean((-2, -1))


def entropy(attention: Tensor) -> Tensor:
    """How many keys share the attention: mean_q -sum_k p(q, k) ln p(q, k), in nats.

    Shannon's entropy of each query's attention, as in Clark et al. (2019), section
    3.2. A term with p = 0 is 0.

    Returns:
        Between 0, one key, and ln n, all n keys alike.
    """
    return torch.special.entr(attention).sum((-2, -1)).mean((-2, -1))


def mean_distance(
    attention: Tensor, patch: Sequence[float], *, local: bool = False
) -> Tensor:
    """How far attention reaches, in pixels: mean_q sum_k p(q, k) |x_k - x_q|.

    The mean attention distance of Dosovitskiy et al., "An Image is Worth 16x16
    Words" (ICLR 2021), figure 7; x is the centre of a patch, the distance Euclidean.

    Args:
        attention: Over a grid or a neighbourhood.
        patch: Height and width of a place of the map, in pixels of the image.
        local: Whether it is over a neighbourhood.
    """
    distances = _distances(attention, patch, local)
    return (attention * distances).sum((-2, -1)).mean((-2, -1))


def layer_differences(layers: Sequence[Tensor]) -> list[Tensor | None]:
    """How different each layer's attention is from that of the others, in bits.

    d(l) = mean over m != l, mean_q JSD(P_l(q), P_m(q)), where P is a layer's
    attention averaged over heads, and JSD(P, Q) = H((P + Q) / 2) - H(P) / 2 -
    H(Q) / 2, the Jensen-Shannon divergence (Lin, "Divergence Measures Based on the
    Shannon Entropy", IEEE Transactions on Information Theory, 1991).

    Args:
        layers: (..., heads, h, w, k, l) each. Layers whose maps differ in size are
            not compared.

    Returns:
        For each layer (...), between 0, equal, and 1, no key in common; None where
        there is no other layer of its size.
    """
    averages = [layer.mean(-5) for layer in layers]
    entropies = [entropy(average) for average in averages]
    found: list[list[Tensor]] = [[] for _ in layers]
    for first in range(len(layers)):
        for second in range(first):
            if averages[first].shape == averages[second].shape:
                middle = entropy((averages[first] + averages[second]) / 2)
                apart = middle - (entropies[first] + entropies[second]) / 2
                found[first].append(apart * BITS)
                found[second].append(apart * BITS)
    return [
        torch.stack(pairs).mean(0).clamp(min=0) if pairs else None for pairs in found
    ]


def _own(attention: Tensor, local: bool) -> Tensor:
    """Weights of queries on themselves, (..., h, w)."""
    if local:
        rows, columns = attention.shape[-2:]
        return attention[..., rows // 2, columns // 2]
    own = attention.flatten(-4, -3).flatten(-2).diagonal(dim1=-2, dim2=-1)
    return own.unflatten(-1, attention.shape[-2:])


def _distances(attention: Tensor, patch: Sequence[float], local: bool) -> Tensor:
    """Of keys from queries, in pixels; (h, w, h, w) or (3, 3)."""
    rows, columns = (
        patch[axis] * torch.arange(size, dtype=torch.float64, device=attention.device)
        for axis, size in enumerate(attention.shape[-2:])
    )
    if local:
        centred = rows - rows.mean(), columns - columns.mean()
        return torch.hypot(centred[0][:, None], centred[1][None, :])
    down = rows[None, :] - rows[:, None]
    across = columns[None, :] - columns[:, None]
    return torch.hypot(down[:, None, :, None], across[None, :, None, :])
