"""Attention that depends on where positions are, and not on what they hold."""

from torch import Tensor, nn

from reattn.models.attention_functions import (
    WORTHWHILE_SAVING,
    gather_contexts,
    gather_separable_contexts,
)
from reattn.models.dropout import AttentionDropout
from reattn.models.forms import Form
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
    ):
        super().__init__()
        self.grid = grid
        self.values = Values(heads, width, value_projection)
        self.dropout = dropout

    def scores(self) -> Tensor:
        """(heads, h, w, h, w): query row and column, key row and column."""
        raise NotImplementedError

    def axis_scores(self) -> tuple[Tensor, Tensor] | None:
        """Scores of rows (heads, h, h) and columns (heads, w, w), if they just add."""
        raise NotImplementedError

    def dropped(self, probabilities: Tensor, batch: int) -> Tensor:
        """Probabilities (...) of all images after dropout, (batch, ...)."""
        raise NotImplementedError

    def forward(self, features: Tensor, keys: None = None) -> tuple[Tensor, None]:
        """(batch, positions, width) to the same shape; there are no keys."""
        if self.form == "plain" or recorder_of(self) is not None:
            return self._plain(features), None
        weight = self.values.folded_weight()
        contexts = self._contexts(features)
        return self.values.from_feature_contexts(contexts, weight), None

    def _plain(self, features: Tensor) -> Tensor:
        batch = len(features)
        scores = self.scores().flatten(3).flatten(1, 2)
        probabilities = scores.softmax(-1)
        by_position = probabilities.view(-1, *self.grid, *self.grid)
        record(self, by_position.expand(batch, -1, -1, -1, -1, -1))
        return self.values(self.dropped(probabilities, batch), features)

    def _contexts(self, features: Tensor) -> Tensor:
        axes = None if self.dropout.active else self.axis_scores()
        if axes is not None and sum(self.grid) * WORTHWHILE_SAVING <= features.shape[1]:
            rows, columns = (scores.softmax(-1) for scores in axes)
            return gather_separable_contexts(rows, columns, features)
        scores = self.scores().flatten(3).flatten(1, 2).transpose(0, 1)
        probabilities = scores.softmax(-1).flatten(0, 1)
        return gather_contexts(self.dropped(probabilities, len(features)), features)
