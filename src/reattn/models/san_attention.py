"""Self-attention over the 3x3 neighbourhood of each pixel, in two operations.

Source: as of `reattn.models.local_attention`.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from reattn.models.channel_major import weigh
from reattn.models.folded_weights import PairwiseWeights, PatchwiseWeights
from reattn.models.local_attention import LocalAttention, conv1x1
from reattn.models.neighbourhoods import NEIGHBOURS, neighbourhoods
from reattn.models.shifts import around, gather, neighbour_index

# Value channels that share one weight.
SHARE = 8

Operation = Literal["pairwise", "patchwise"]


class PairwiseAttention(LocalAttention):
    """Weights from each pair of pixels; over the neighbours they sum to 1."""

    def __init__(self, channels: int):
        super().__init__(channels)
        relation = channels // 16
        self.weigh = _weighing(relation + 2, relation, channels // 4 // SHARE)
        self.position = conv1x1(2, 2, bias=True)

    def layers(self) -> list[nn.Module]:
        return [*super().layers(), self.position]

    def plain_weights(self, queries: Tensor, keys: Tensor) -> Tensor:
        places = self.position(position_map(*queries.shape[2:], queries))
        places = places.expand(len(queries), -1, -1, -1)
        centres = torch.cat([queries, places], dim=1).flatten(2).unsqueeze(2)
        around = neighbourhoods(torch.cat([keys, places], dim=1))
        return self.weigh(centres - around).softmax(dim=2)

    def weights(self, queries: Tensor, keys: Tensor) -> Tensor:
        index = neighbour_index(*queries.shape[1:3], queries.device)
        places = self._place_differences(index)
        compared = queries.unsqueeze(1) - around(keys)
        places = places.expand(*places.shape[:-1], compared.shape[-1])
        compared = torch.cat([compared, places])
        return weigh(self.weigh, compared).softmax(dim=1)

    def fold_weights(self, index: Tensor) -> PairwiseWeights:
        places = self._place_differences(index)
        return PairwiseWeights.fold(self.weigh, places)

    def _place_differences(self, index: Tensor) -> Tensor:
        """From each pixel to its neighbours, (2, 9, height, width, 1)."""
        position = position_map(*index.shape[1:], self.position.weight)
        places = self.position(position).squeeze(0).unsqueeze(3)
        return places.unsqueeze(1) - gather(places, index)


class PatchwiseAttention(LocalAttention):
    """Weights from the whole neighbourhood at once, without a softmax."""

    def __init__(self, channels: int):
        super().__init__(channels)
        relation, groups = channels // 16, channels // 4 // SHARE
        self.weigh = _weighing(relation * (NEIGHBOURS + 1), groups, groups * NEIGHBOURS)

    def plain_weights(self, queries: Tensor, keys: Tensor) -> Tensor:
        around = neighbourhoods(keys).flatten(1, 2)
        patches = torch.cat([queries.flatten(2), around], dim=1).unsqueeze(2)
        return self.weigh(patches).squeeze(2).unflatten(1, (-1, NEIGHBOURS))

    def weights(self, queries: Tensor, keys: Tensor) -> Tensor:
        nearby = around(keys).flatten(0, 1)
        patches = torch.cat([queries, nearby])
        return weigh(self.weigh, patches).unflatten(0, (-1, NEIGHBOURS))

    def fold_weights(self, index: Tensor) -> PatchwiseWeights:
        return PatchwiseWeights.fold(self.weigh, self.query.out_channels)


def local_attention(operation: Operation, channels: int) -> LocalAttention:
    """The attention of one bottleneck, by the name of its operation."""
    if operation == "pairwise":
        return PairwiseAttention(channels)
    return PatchwiseAttention(channels)


def position_map(height: int, width: int, like: Tensor) -> Tensor:
    """Columns and rows from -1 to 1, (1, 2, height, width), as `like`."""
    along = {"dtype": like.dtype, "device": like.device}
    columns = torch.linspace(-1, 1, width, **along).expand(height, width)
    rows = torch.linspace(-1, 1, height, **along).unsqueeze(1).expand(height, width)
    return torch.stack([columns, rows]).unsqueeze(0)


def _weighing(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.BatchNorm2d(inputs),
        nn.ReLU(inplace=True),
        conv1x1(inputs, hidden),
        nn.BatchNorm2d(hidden),
        nn.ReLU(inplace=True),
        conv1x1(hidden, outputs, bias=True),
    )
