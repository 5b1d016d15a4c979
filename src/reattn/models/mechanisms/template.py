"""A working start for an attention of one's own: dot products, without positions.

`reattn.models.mechanism` says how it is found and what the encoder asks of it.
"""

from torch import Tensor, nn

from reattn.config.models import MechanismSettings
from reattn.models.dropout import AttentionDropout
from reattn.models.recording import record, recorder_of
from reattn.models.values import Values


class Attention(nn.Module):
    """softmax(q . k / (temperature sqrt(D))), each head with D features.

    Args:
        settings: The variant's `model` block: heads, width D, attention_dropout.
        grid: Rows and columns of patches.
        temperature: An option, given under `options` in the variant's file.
    """

    recorder = None  # takes the probabilities when they are drawn or measured

    def __init__(
        self,
        settings: MechanismSettings,
        grid: tuple[int, int],
        *,
        temperature: float = 1.0,
    ):
        super().__init__()
        heads, width = settings.heads, settings.width
        self.heads, self.grid = heads, grid
        self.scale = 1 / (temperature * width**0.5)
        self.query = nn.Linear(width, heads * width, bias=False)
        self.key = nn.Linear(width, heads * width, bias=False)
        # Gathers the features themselves, then maps what all heads gathered.
        self.values = Values(heads, width, projection=False)
        self.dropout = AttentionDropout(settings.attention_dropout)

    def forward(
        self, features: Tensor, keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Features (batch, positions, D) to features, and the keys used.

        Args:
            features: Of all positions, row by row.
            keys: Those of the first pass in every later one of a hierarchical
                encoder; otherwise None.
        """
        queries = self._per_head(self.query(features))
        if keys is None:
            keys = self._per_head(self.key(features))
        scores = self.scale * queries @ keys.transpose(-2, -1)
        probabilities = scores.softmax(-1)
        if recorder_of(self) is not None:
            record(self, probabilities.unflatten(3, self.grid).unflatten(2, self.grid))
        return self.values(self.dropout(probabilities), features), keys

    def _per_head(self, mapped: Tensor) -> Tensor:
        """(batch, heads, positions, D) of (batch, positions, heads * D)."""
        return mapped.unflatten(-1, (self.heads, -1)).transpose(1, 2)
