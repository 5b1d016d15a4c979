"""One head of attention without positions, whose scores take one of seven forms."""

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm, normalize

from reattn.measure.constructed_task import FEATURES

WIDTH = 16
TEMPERATURE = 0.1  # of cosines, as in ProjectionsSettings
WITH_QUERY = ("separate", "tied", "shared", "no-key")
WITH_KEY = ("separate", "no-query")
ONE_MAP = ("tied", "shared")
TOLERANCE = 1e-9  # of the largest score, in double precision


class ConstructedAttention(nn.Module):
    """Learned features of kind and content, normalised, and scores of pairs of them.

    The attention weighs what tokens carry, as it is. So `shared` has the scores of
    `tied`: an output map can undo what the one map does to values.

    Args:
        scores: As ProjectionsSettings.scores.
    """

    def __init__(self, scores: str):
        super().__init__()
        self.form = scores
        self.embedding = nn.Linear(FEATURES, WIDTH, bias=False, dtype=torch.float64)
        nn.init.normal_(self.embedding.weight)
        self.query = _map_if(scores in WITH_QUERY)
        own_key = _map_if(scores in WITH_KEY)
        self.key = self.query if scores in ONE_MAP else own_key

    def features(self, sets: Tensor) -> Tensor:
        """(count, tokens, WIDTH), of equal length: LayerNorm without weights."""
        return normalised(self.embedding(sets))

    def scores(self, features: Tensor) -> Tensor:
        """(..., tokens, tokens): query, key."""
        queries, keys = self.query(features), self.key(features)
        if self.form == "cosine":
            queries, keys = normalize(queries, dim=-1), normalize(keys, dim=-1)
            return queries @ keys.mT / TEMPERATURE
        return queries @ keys.mT / WIDTH**0.5

    def forward(self, sets: Tensor) -> Tensor:
        """The attention: (count, tokens, tokens), rows sum to one."""
        return self.scores(self.features(sets)).softmax(dim=-1)


def normalised(features: Tensor) -> Tensor:
    """LayerNorm without a small constant, so that lengths are equal exactly."""
    return layer_norm(features, (WIDTH,), eps=0.0)


def is_symmetric(model: ConstructedAttention, generator: torch.Generator) -> bool:
    """Whether s(x, y) = s(y, x) for random normalised features."""
    features = torch.randn(64, WIDTH, generator=generator, dtype=torch.float64)
    with torch.no_grad():
        scores = model.scores(normalised(features))
    return bool((scores - scores.mT).abs().max() <= TOLERANCE * scores.abs().max())


def _map_if(wanted: bool) -> nn.Module:
    if not wanted:
        return nn.Identity()
    return nn.Linear(WIDTH, WIDTH, bias=False, dtype=torch.float64)
