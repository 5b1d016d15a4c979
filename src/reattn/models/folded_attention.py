"""A bottleneck's attention when statistics are fixed and nothing is differentiated.

Its normalisations are folded into the linear maps, and the rows of the map are taken a
few at a time: what is made for nine neighbours then stays in a processor's cache.
"""

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from reattn.models.batch_norm import scale_and_shift
from reattn.models.channel_major import linear_of_pixels
from reattn.models.folded_weights import PairwiseWeights, PatchwiseWeights
from reattn.models.neighbourhoods import NEIGHBOURS
from reattn.models.shifts import neighbour_index
from reattn.models.weighted_sums import weighted_sum

if TYPE_CHECKING:
    from reattn.models.local_attention import LocalAttention

# Numbers of nine neighbours at a time: two megabytes in float32.
NUMBERS_IN_A_STRIP = 2**19


class FoldedAttention(NamedTuple):
    """Attention, and the normalisation of what it gathers, as they are computed.

    Attributes:
        maps: To queries, values and keys, (outputs, channels).
        query_shift: What is added to queries, (relation, 1, 1, 1).
        value_shift: What is added to gathered values, (values).
        weigh: How weights are made.
    """

    maps: Tensor
    query_shift: Tensor
    value_shift: Tensor
    weigh: PairwiseWeights | PatchwiseWeights


class Folding(NamedTuple):
    """What is folded.

    Attributes:
        attention: Of a bottleneck.
        norm: Of what the attention gathers.
        index: Numbers of the neighbours of each pixel of the map.
    """

    attention: "LocalAttention"
    norm: nn.BatchNorm2d
    index: Tensor

    def possible(self) -> bool:
        """Whether no statistics are those of the batch."""
        return not any(layer.training for layer in (*self.attention.weigh, self.norm))

    def sources(self) -> list[Tensor]:
        """All that the result depends on."""
        layers = (*self.attention.layers(), self.norm)
        return [*chain.from_iterable(map(_tensors, layers)), self.index]

    def fold(self) -> FoldedAttention:
        """Put the normalisations of what is compared and gathered into the maps."""
        attention = self.attention
        relation = attention.query.out_channels
        compared = scale_and_shift(attention.weigh[0])
        scale, shift = (each[:relation] for each in compared)
        value_scale, value_shift = scale_and_shift(self.norm)
        queries = attention.query.weight.flatten(1) * scale[:, None]
        values = attention.value.weight.flatten(1) * value_scale[:, None]
        return FoldedAttention(
            maps=torch.cat([queries, values, attention.key.weight.flatten(1)]),
            query_shift=shift.view(-1, 1, 1, 1),
            value_shift=value_shift,
            weigh=attention.fold_weights(self.index),
        )


def _tensors(layer: nn.Module) -> list[Tensor]:
    if layer._modules:  # it is parametrised: its parameters are those of what it holds
        return [*layer.parameters(), *layer.buffers()]
    # Twenty times a prediction: Module.parameters() would take too long.
    own = chain(layer._parameters.values(), layer._buffers.values())
    return [tensor for tensor in own if tensor is not None]


def attend(
    folded: FoldedAttention, features: Tensor, keys: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """What the attention gathers, normalised; the keys; the weights.

    Args:
        folded: What `Folding.fold` made.
        features: (height, width, batch, channels).
        keys: (relation, height, width, batch), or None to make them.
    """
    relation, middle = len(folded.query_shift), len(folded.value_shift)
    maps = folded.maps if keys is None else folded.maps[:-relation]
    results = linear_of_pixels(features, maps)
    queries, values = results[:relation], results[relation : relation + middle]
    queries.add_(folded.query_shift)
    keys = results[relation + middle :] if keys is None else keys
    weights = _weights(folded.weigh, queries, keys)
    return weighted_sum(values, weights, folded.value_shift), keys, weights


def _weights(
    weigh: PairwiseWeights | PatchwiseWeights, queries: Tensor, keys: Tensor
) -> Tensor:
    index = neighbour_index(*keys.shape[1:3], keys.device)
    step = max(1, NUMBERS_IN_A_STRIP // (NEIGHBOURS * keys[:, 0].numel()))
    parts = [
        weigh.of_rows(rows).weights(queries[:, rows], keys, index[:, rows])
        for rows in _slices(keys.shape[1], step)
    ]
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)


def _slices(count: int, step: int) -> list[slice]:
    return [slice(first, first + step) for first in range(0, count, step)]
