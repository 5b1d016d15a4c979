"""Weights of local attention when statistics are fixed: fewer steps, the same function.

With fixed statistics a batch normalisation is a scale and a shift for each channel.
After a linear map they are part of it; before a ReLU they are one step with what comes
before. All maps are (channels, height, width, batch).
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from reattn.models.batch_norm import scale_and_shift
from reattn.models.channel_major import product
from reattn.models.neighbourhoods import NEIGHBOURS
from reattn.models.shifts import gather


class PairwiseWeights(NamedTuple):
    """Of pairwise attention.

    Attributes:
        scale: Of keys, negative, (relation, 1, 1, 1, 1).
        constant: Compared features that are the same for all images, and a 1 for
            the shift of hidden features, (3, 9, height, width, 1).
        first: From compared to hidden features, (relation, relation + 3).
        second: From hidden features to scores, (weights, relation). They have no
            shift: softmax would take it away.
    """

    scale: Tensor
    constant: Tensor
    first: Tensor
    second: Tensor

    @classmethod
    def fold(cls, weigh: nn.Sequential, places: Tensor) -> "PairwiseWeights":
        """From the layers, and the differences of places (2, 9, height, width, 1)."""
        norm, _, first, hidden_norm, _, second = weigh
        scale, shift = (_rows(each) for each in scale_and_shift(norm))
        hidden_scale, hidden_shift = scale_and_shift(hidden_norm)
        constant = torch.addcmul(shift[-2:], places, scale[-2:]).relu()
        scaled = first.weight.flatten(1) * hidden_scale[:, None]
        return cls(
            scale=-scale[:-2],
            constant=torch.cat([constant, torch.ones_like(constant[:1])]),
            first=torch.cat([scaled, hidden_shift[:, None]], dim=1),
            second=second.weight.flatten(1),
        )

    def weights(self, queries: Tensor, keys: Tensor, index: Tensor) -> Tensor:
        """Weights of pixels, (weights, 9, height, width, batch).

        Args:
            queries: Scaled and shifted, (relation, height, width, batch).
            keys: Those of the whole map.
            index: Numbers of the keys around each pixel, (9, height, width).
        """
        near = gather(keys, index)
        compared = near.new_empty(self.first.shape[1], *near.shape[1:])
        own = compared[: len(near)]
        torch.addcmul(queries.unsqueeze(1), near, self.scale, out=own).relu_()
        compared[len(near) :] = self.constant
        hidden = product(self.first, compared.flatten(1)).relu_()
        scores = product(self.second, hidden)
        return scores.view(-1, *near.shape[1:]).softmax(dim=1)

    def of_rows(self, rows: slice) -> "PairwiseWeights":
        """The same for some rows of the map."""
        return self._replace(constant=self.constant[:, :, rows])


class PatchwiseWeights(NamedTuple):
    """Of patchwise attention.

    Attributes:
        scale: Of keys, (relation, 9, 1, 1, 1).
        shift: Of keys, the same.
        of_query: From the query to hidden features, (hidden, relation).
        of_around: From the keys around it, (hidden, 9 relation).
        hidden_shift: (hidden, 1).
        second: From hidden features to weights, (9 weights, hidden).
        second_shift: (9 weights, 1).
    """

    scale: Tensor
    shift: Tensor
    of_query: Tensor
    of_around: Tensor
    hidden_shift: Tensor
    second: Tensor
    second_shift: Tensor

    @classmethod
    def fold(cls, weigh: nn.Sequential, relation: int) -> "PatchwiseWeights":
        """From the layers; a query has `relation` channels."""
        norm, _, first, hidden_norm, _, second = weigh
        scale, shift = (each[relation:] for each in scale_and_shift(norm))
        hidden_scale, hidden_shift = scale_and_shift(hidden_norm)
        of_query, of_around = torch.split(
            first.weight.flatten(1) * hidden_scale[:, None],
            [relation, NEIGHBOURS * relation],
            dim=1,
        )
        return cls(
            scale=_rows(scale.view(relation, NEIGHBOURS)),
            shift=_rows(shift.view(relation, NEIGHBOURS)),
            of_query=of_query,
            of_around=of_around,
            hidden_shift=hidden_shift[:, None],
            second=second.weight.flatten(1),
            second_shift=second.bias[:, None],
        )

    def weights(self, queries: Tensor, keys: Tensor, index: Tensor) -> Tensor:
        """Weights of pixels, (weights, 9, height, width, batch).

        Args:
            queries: Scaled and shifted, (relation, height, width, batch).
            keys: Those of the whole map.
            index: Numbers of the keys around each pixel, (9, height, width).
        """
        near = gather(keys, index)
        torch.addcmul(self.shift, near, self.scale, out=near).relu_()
        hidden = product(self.of_query, queries.relu().flatten(1))
        hidden += product(self.of_around, near.flatten(0, 1).flatten(1))
        hidden.add_(self.hidden_shift).relu_()
        weights = product(self.second, hidden).add_(self.second_shift)
        return weights.view(-1, *near.shape[1:])

    def of_rows(self, rows: slice) -> "PatchwiseWeights":
        """The same for some rows of the map."""
        return self


def _rows(values: Tensor) -> Tensor:
    """(...) to (..., 1, 1, ...) with the five dimensions of gathered maps."""
    return values.view(*values.shape, *[1] * (5 - values.dim()))
