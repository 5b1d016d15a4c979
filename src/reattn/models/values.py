"""From attention probabilities to the features that an attention layer returns."""

import torch
from torch import Tensor, nn

from reattn.models.attention_functions import fold_values_into_output
from reattn.models.products import Linear, linear


class Values(nn.Module):
    """out = W_out [context_1, ..., context_H] + b, head by head.

    A head's context is the mean of its values, weighted by its probabilities. With
    a projection a head's values are V_h x; without one they are the features x.

    Args:
        heads: H.
        width: Features of a position, D; each head's values have as many.
        projection: Whether heads have values of their own.
    """

    def __init__(self, heads: int, width: int, projection: bool):
        super().__init__()
        self.heads = heads
        self.projection = (
            Linear(width, heads * width, bias=False) if projection else None
        )
        self.output = Linear(heads * width, width)

    def forward(self, probabilities: Tensor, features: Tensor) -> Tensor:
        """As the equations read.

        Args:
            probabilities: (batch, heads, queries, keys).
            features: (batch, keys, width).

        Returns:
            (batch, queries, width).
        """
        if self.projection is None:
            contexts = torch.einsum("bhqk,bkd->bqhd", probabilities, features)
        else:
            values = self.projection(features).unflatten(-1, (self.heads, -1))
            contexts = torch.einsum("bhqk,bkhd->bqhd", probabilities, values)
        return self.output(contexts.flatten(2))

    def per_head(self, features: Tensor) -> Tensor:
        """Values (batch, heads, positions, width); no copy without a projection."""
        if self.projection is None:
            return features.unsqueeze(1).expand(-1, self.heads, -1, -1)
        values = self.projection(features).unflatten(-1, (self.heads, -1))
        return values.transpose(1, 2)

    def folded_weight(self) -> Tensor:
        """The weight of the output map that reads contexts of the features."""
        if self.projection is None:
            return self.output.weight
        return fold_values_into_output(
            self.projection.weight, self.output.weight, self.heads
        )

    def from_feature_contexts(self, contexts: Tensor, weight: Tensor) -> Tensor:
        """What `forward` returns, from contexts of the features themselves.

        Args:
            contexts: (batch, queries, heads * width).
            weight: `folded_weight()`.
        """
        return linear(contexts, weight, self.output.bias)
