"""Attention that depends on where positions are, and not on what they hold."""

import torch
from torch import Tensor, nn

from reattn.models.attention_functions import (
    WORTHWHILE_SAVING,
    gather_contexts,
    gather_separable_contexts,
)
from reattn.models.dropout import AttentionDropout
from reattn.models.forms import Form
from reattn.models.kept import Kept
from reattn.models.recording import record, recorder_of
from reattn.models.values import Values


class ContentFreeAttention(nn.Module):
    """Scores of positions alone: probabilities are the same for every image.

    A subclass says what the scores are, and how dropout meets the batch.

    Args:
        grid: Rows and columns, h and w.
        heads: H.
        width: Features of a position.
        value_projection: Whether heads have values of their own.
        dropout: On the probabilities.
        separable: Whether no term of the scores mixes rows and columns.
    """

    form: Form = "shipped"
    recorder = None

    def __init__(
        self,
        grid: tuple[int, int],
        heads: int,
        width: int,
        value_projection: bool,
        dropout: AttentionDropout,
        separable: bool = True,
    ):
        super().__init__()
        self.grid = grid
        self.values = Values(heads, width, value_projection)
        self.dropout = dropout
        self.separable = separable
        self.kept_probabilities, self.kept_weight = Kept(), Kept()

    def scores(self) -> Tensor:
        """(heads, h, w, h, w): query row and column, key row and column."""
        raise NotImplementedError

    def axis_scores(self) -> tuple[Tensor, Tensor]:
        """Scores of rows (heads, h, h) and of columns (heads, w, w), which add up."""
        raise NotImplementedError

    def dropped(self, probabilities: Tensor, batch: int) -> Tensor:
        """Probabilities (...) of all images after dropout, (batch, ...) or (...)."""
        raise NotImplementedError

    def forward(self, features: Tensor, keys: None = None) -> tuple[Tensor, None]:
        """(batch, positions, width) to the same shape; there are no keys."""
        if torch.is_grad_enabled():
            self.kept_probabilities.forget()
            self.kept_weight.forget()
        if self.form == "plain" or recorder_of(self) is not None:
            return self._plain(features), None
        sources = list(self.parameters())
        weight = self.kept_weight.get(self.values.folded_weight, sources)
        contexts = self._contexts(features, sources)
        return self.values.from_feature_contexts(contexts, weight), None

    def _plain(self, features: Tensor) -> Tensor:
        batch = len(features)
        scores = self.scores().flatten(3).flatten(1, 2)
        probabilities = scores.softmax(-1)
        by_position = probabilities.view(-1, *self.grid, *self.grid)
        record(self, by_position.expand(batch, -1, -1, -1, -1, -1))
        dropped = self.dropped(probabilities, batch)
        return self.values(dropped.expand(batch, *probabilities.shape), features)

    def _contexts(self, features: Tensor, sources: list[Tensor]) -> Tensor:
        kept = self.kept_probabilities
        few_lines = sum(self.grid) * WORTHWHILE_SAVING <= features.shape[1]
        if few_lines and self.separable and not self.dropout.active:
            rows, columns = kept.get(self._axis_probabilities, sources)
            return gather_separable_contexts(rows, columns, features)
        probabilities = kept.get(self._probabilities, sources)
        return gather_contexts(self.dropped(probabilities, len(features)), features)

    def _axis_probabilities(self) -> tuple[Tensor, Tensor]:
        rows, columns = self.axis_scores()
        return rows.softmax(-1), columns.softmax(-1)

    def _probabilities(self) -> Tensor:
        """(positions * heads, positions): query, head; key."""
        scores = self.scores().flatten(3).flatten(1, 2).transpose(0, 1)
        return scores.softmax(-1).flatten(0, 1)
