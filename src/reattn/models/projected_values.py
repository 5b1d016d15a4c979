"""Values of heads, and the output map that reads what they gather."""

import torch
from torch import Tensor, nn

from reattn.models.attention_functions import fold_values_into_output
from reattn.models.products import Linear


class ProjectedValues(nn.Module):
    """A value map a head and an output map; or the output map alone.

    Head by head the output is O_h (V_h c) for the mean c of the features that the head
    gathers. V_h and O_h are linear with nothing between, and as wide as the features:
    one map M_h = O_h V_h computes the same, and every M_h can be had. So without a
    value map nothing is lost but parameters.

    Args:
        heads: H.
        width: Features of a position, D; each head's values have as many.
        kind: `separate`; `none`: no value map; `merged`: none, the output map starting
            as the product of both; `shared`: values are given.
    """

    def __init__(self, heads: int, width: int, kind: str):
        super().__init__()
        self.heads = heads
        drawn = None
        if kind in ("separate", "merged"):
            drawn = Linear(width, heads * width, bias=False)
        self.projection = drawn if kind == "separate" else None
        self.output = Linear(heads * width, width)
        if kind == "merged":
            self._start_as_product(drawn)

    @torch.no_grad()
    def _start_as_product(self, value: nn.Linear) -> None:
        weight = self.output.weight
        weight.copy_(fold_values_into_output(value.weight, weight, self.heads))

    def per_head(self, features: Tensor) -> Tensor:
        """Values (batch, heads, positions, D), or (batch, 1, positions, D) of none."""
        if self.projection is None:
            return features.unsqueeze(1)
        return self.projection(features).unflatten(-1, (self.heads, -1)).transpose(1, 2)
