"""Attention that compares what positions hold."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reattn.models.attention_functions import fold_keys_into_queries, gather_contexts
from reattn.models.dropout import AttentionDropout
from reattn.models.forms import Form
from reattn.models.kept import Kept
from reattn.models.products import Linear, batched_product, linear
from reattn.models.recording import recorder_of
from reattn.models.values import Values

# Folding weights costs H D^3 operations and spares H D^2 a position, but its products
# are smaller; below this many times D positions in a batch it does not pay, unless
# folded weights are kept.
FEW_POSITIONS = 2


class FoldedWeights(NamedTuple):
    """What turns features into queries of the features themselves, and back.

    Attributes:
        query: Weight of queries of the features, scaled, (heads * width, width).
        positions: What `ContentAttention.fold_positions` made.
        output: Weight of the output map of contexts of the features.
    """

    query: Tensor
    positions: object
    output: Tensor


class FoldedKeys(NamedTuple):
    """Keys that are the features themselves, and the weights that allow it.

    Attributes:
        features: What the keys would be made from, (batch, positions, width).
        weights: Of the pass that made the keys.
    """

    features: Tensor
    weights: FoldedWeights


Keys = Tensor | FoldedKeys


class ContentAttention(nn.Module):
    """softmax((q . k + position score) / sqrt(D)), each head with D features.

    A subclass may take queries and keys from elsewhere, add scores of positions, and
    says what is recorded. Keys that a pass returns may be given to a later one.

    Args:
        heads: H.
        width: Features of a position, D.
        value_projection: Whether heads have values of their own.
        dropout: On the probabilities, for every image, head, query and key.
    """

    form: Form = "shipped"
    recorder = None

    def __init__(self, heads: int, width: int, value_projection: bool, dropout: float):
        super().__init__()
        self.heads = heads
        self.width = width
        self.scale = width**-0.5
        self.query = Linear(width, heads * width, bias=False)
        self.key = Linear(width, heads * width, bias=False)
        self.values = Values(heads, width, value_projection)
        self.dropout = AttentionDropout(dropout)
        self.kept = Kept()

    def compared(self, features: Tensor) -> Tensor:
        """What queries and keys are made from, (batch, positions, width)."""
        return features

    def position_scores(self, queries: Tensor) -> Tensor | None:
        """Unscaled (batch, heads, queries, keys) of (batch, queries, heads, D)."""
        return None

    def fold_positions(self) -> object:
        """Weights from which `folded_position_scores` need no queries."""
        return None

    def folded_position_scores(self, compared: Tensor, weights: object) -> Tensor:
        """Scaled (batch, queries * heads, keys), if `fold_positions` is not None."""
        raise NotImplementedError

    def record_probabilities(self, probabilities: Tensor) -> None:
        """Hand (batch, heads, queries, keys) to whoever records."""
        raise NotImplementedError

    def forward(
        self, features: Tensor, keys: Keys | None = None
    ) -> tuple[Tensor, Keys]:
        """Features to features, (batch, positions, width), and the keys used."""
        batch, positions, width = features.shape
        if torch.is_grad_enabled():
            self.kept.forget()
        if self.form == "plain" or recorder_of(self) is not None:
            return self._plain(features, keys)
        few = batch * positions <= FEW_POSITIONS * width
        if few and torch.is_grad_enabled():
            return self._fused(features, keys)
        return self._folded(features, keys)

    def _per_head(self, projection: nn.Linear, features: Tensor) -> Tensor:
        return projection(features).unflatten(-1, (self.heads, self.width))

    def _queries_and_keys(
        self, features: Tensor, keys: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        compared = self.compared(features)
        if keys is None:
            keys = self._per_head(self.key, compared)
        return self._per_head(self.query, compared), keys

    def _plain(self, features: Tensor, keys: Tensor | None) -> tuple[Tensor, Tensor]:
        queries, keys = self._queries_and_keys(features, keys)
        scores = torch.einsum("bqhd,bkhd->bhqk", queries, keys)
        positions = self.position_scores(queries)
        if positions is not None:
            scores = scores + positions
        probabilities = (scores * self.scale).softmax(-1)
        if recorder_of(self) is not None:
            self.record_probabilities(probabilities)
        return self.values(self.dropout(probabilities), features), keys

    def _fused(self, features: Tensor, keys: Tensor | None) -> tuple[Tensor, Tensor]:
        """For few positions, where folding weights would cost more than it spares."""
        queries, keys = self._queries_and_keys(features, keys)
        positions = self.position_scores(queries)
        contexts = F.scaled_dot_product_attention(
            queries.transpose(1, 2),
            keys.transpose(1, 2),
            self.values.per_head(features),
            attn_mask=None if positions is None else positions * self.scale,
            dropout_p=self.dropout.fraction if self.training else 0.0,
            scale=self.scale,
        )
        return self.values.output(contexts.transpose(1, 2).flatten(2)), keys

    def _folded(
        self, features: Tensor, keys: FoldedKeys | None
    ) -> tuple[Tensor, FoldedKeys]:
        compared = self.compared(features)
        if keys is None:
            weights = self.kept.get(self._fold, list(self.parameters()))
            keys = FoldedKeys(compared, weights)
        weights = keys.weights
        per_position = linear(compared, weights.query).unflatten(-1, (self.heads, -1))
        queries = per_position.flatten(1, 2)
        positions = None
        if weights.positions is not None:
            positions = self.folded_position_scores(compared, weights.positions)
        scores = batched_product(queries, keys.features, positions)
        contexts = gather_contexts(self.dropout(scores.softmax(-1)), features)
        return self.values.from_feature_contexts(contexts, weights.output), keys

    def _fold(self) -> FoldedWeights:
        query = fold_keys_into_queries(self.query.weight, self.key.weight, self.heads)
        return FoldedWeights(
            query=query * self.scale,
            positions=self.fold_positions(),
            output=self.values.folded_weight(),
        )
