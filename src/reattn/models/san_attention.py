"""Self-attention over the 3x3 neighbourhood of each pixel.

Source: Zhao, Jia and Koltun, "Exploring Self-attention for Image Recognition"
(CVPR 2020), equations 2 to 4, and their code hszhao/SAN, model/san.py and
lib/sa. As in Prabhu and Varma's copy of it, the query, key and value maps have
no bias. Here it is plain PyTorch and runs on any device.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reattn.models.forms import Form
from reattn.models.neighbourhoods import (
    KERNEL,
    NEIGHBOURS,
    VECTOR,
    aggregate,
    neighbourhoods,
)
from reattn.models.recording import record, recorder_of

# Value channels that share one weight.
SHARE = 8

Operation = Literal["pairwise", "patchwise"]


class PointwiseMap(nn.Conv2d):
    """A 1x1 convolution of a few channels over many places.

    The shipped form is one matrix product an image: on a CPU several times faster
    than a convolution where channels are few and places many.
    """

    form: Form = "shipped"

    def __init__(self, inputs: int, outputs: int, *, bias: bool):
        super().__init__(inputs, outputs, kernel_size=1, bias=bias)

    def forward(self, features: Tensor) -> Tensor:
        few = features[0, 0].numel() < VECTOR**2
        if self.form == "plain" or few:
            return super().forward(features)
        weight = self.weight.flatten(1).expand(len(features), -1, -1)
        mixed = torch.bmm(weight, features.flatten(2))
        if self.bias is not None:
            mixed += self.bias.unsqueeze(1)
        return mixed.unflatten(2, features.shape[2:])


class LocalAttention(nn.Module):
    """Weights over nine neighbours, and the values gathered with them.

    Args:
        channels: Features of the map, a multiple of 32: a sixteenth of them are
            compared, a quarter are gathered, and one weight serves every
            channel c with the same c mod (channels / 32).
    """

    form: Form = "shipped"
    recorder = None

    def __init__(self, channels: int):
        super().__init__()
        relation, middle = channels // 16, channels // 4
        self.query = conv1x1(channels, relation)
        self.key = conv1x1(channels, relation)
        self.value = conv1x1(channels, middle)

    def forward(
        self, features: Tensor, keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from each pixel to its neighbourhood.

        Args:
            features: (batch, channels, height, width).
            keys: Those of an earlier call, to be used instead of new ones.

        Returns:
            Gathered values (batch, channels / 4, height, width) and the keys.
        """
        queries, values, keys = self._maps(features, keys)
        weights = self.weights(queries, keys)
        if recorder_of(self) is not None:
            record(self, _local_maps(weights, features.shape[2:]))
        return aggregate(values, weights, self.form), keys

    def _maps(
        self, features: Tensor, keys: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        maps = [self.query, self.value]
        if keys is None:
            maps.append(self.key)
        if self.form == "plain":
            results = [one_map(features) for one_map in maps]
        else:
            # One convolution reads the features, and their gradient, once.
            weight = torch.cat([one_map.weight for one_map in maps])
            sizes = [one_map.out_channels for one_map in maps]
            results = F.conv2d(features, weight).split(sizes, dim=1)
        queries, values, *made = results
        return queries, values, made[0] if made else keys

    def weights(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Weights (batch, channels / 32, 9, height * width)."""
        raise NotImplementedError


class PairwiseAttention(LocalAttention):
    """Weights from each pair of pixels; over the neighbours they sum to 1."""

    def __init__(self, channels: int):
        super().__init__(channels)
        relation = channels // 16
        self.weigh = _weighing(relation + 2, relation, channels // 4 // SHARE)
        self.position = PointwiseMap(2, 2, bias=True)

    def weights(self, queries: Tensor, keys: Tensor) -> Tensor:
        places = self.position(position_map(queries)).expand(len(queries), -1, -1, -1)
        centres = torch.cat([queries, places], dim=1).flatten(2).unsqueeze(2)
        around = neighbourhoods(torch.cat([keys, places], dim=1), self.form)
        return self.weigh(centres - around).softmax(dim=2)


class PatchwiseAttention(LocalAttention):
    """Weights from the whole neighbourhood at once, without a softmax."""

    def __init__(self, channels: int):
        super().__init__(channels)
        relation, groups = channels // 16, channels // 4 // SHARE
        self.weigh = _weighing(relation * (NEIGHBOURS + 1), groups, groups * NEIGHBOURS)

    def weights(self, queries: Tensor, keys: Tensor) -> Tensor:
        around = neighbourhoods(keys, self.form).flatten(1, 2)
        patches = torch.cat([queries.flatten(2), around], dim=1).unsqueeze(2)
        return self.weigh(patches).squeeze(2).unflatten(1, (-1, NEIGHBOURS))


def conv1x1(inputs: int, outputs: int, *, bias: bool = False) -> nn.Conv2d:
    """A linear map of each pixel's channels."""
    return nn.Conv2d(inputs, outputs, kernel_size=1, bias=bias)


def local_attention(operation: Operation, channels: int) -> LocalAttention:
    """The attention of one bottleneck, by the name of its operation."""
    if operation == "pairwise":
        return PairwiseAttention(channels)
    return PatchwiseAttention(channels)


def position_map(like: Tensor) -> Tensor:
    """Columns and rows from -1 to 1, (1, 2, height, width), as `like`."""
    height, width = like.shape[2:]
    along = {"dtype": like.dtype, "device": like.device}
    columns = torch.linspace(-1, 1, width, **along).expand(height, width)
    rows = torch.linspace(-1, 1, height, **along).unsqueeze(1).expand(height, width)
    return torch.stack([columns, rows]).unsqueeze(0)


def _weighing(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.BatchNorm2d(inputs),
        nn.ReLU(inplace=True),
        PointwiseMap(inputs, hidden, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU(inplace=True),
        PointwiseMap(hidden, outputs, bias=True),
    )


def _local_maps(weights: Tensor, sides: torch.Size) -> Tensor:
    maps = weights.unflatten(3, sides).unflatten(2, (KERNEL, KERNEL))
    return maps.permute(0, 1, 4, 5, 2, 3)
