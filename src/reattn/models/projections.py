"""Attention with fewer maps of the features than queries, keys and values.

What each setting leaves out is written at `reattn.config.models.ProjectionsSettings`.
With separate maps it is the aligned learned encoding with values, the very same module.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from reattn.config.models import Learned2DSettings, ProjectionsSettings
from reattn.costs.projections import WITHOUT_QUERY, with_matched_width
from reattn.models.dropout import AttentionDropout
from reattn.models.encoder import EncoderClassifier
from reattn.models.forms import Form
from reattn.models.learned2d_content import Learned2DContentAttention
from reattn.models.patches import grid_of
from reattn.models.products import Linear
from reattn.models.projected_values import ProjectedValues
from reattn.models.projection_positions import PositionsOfHeads, PositionsOfQueries
from reattn.models.recording import record, recorder_of


def build(
    settings: ProjectionsSettings, image_size: tuple[int, int], num_classes: int
) -> nn.Module:
    """The model of these settings, for images that their size allows."""
    grid = grid_of(image_size, settings.patch_size)
    settings = with_matched_width(settings, grid[0])

    def make() -> nn.Module:
        if settings.scores == settings.values == "separate":
            return Learned2DContentAttention(_with_all_maps(settings), grid)
        return ProjectionsAttention(settings, grid)

    return EncoderClassifier(settings, make, num_classes)


def _with_all_maps(settings: ProjectionsSettings) -> Learned2DSettings:
    shared = settings.model_dump(
        exclude={"family", "scores", "values", "temperature", "matched"}
    )
    return Learned2DSettings(
        family="learned2d",
        content=True,
        value_projection=True,
        content_alignment="aligned",
        **shared,
    )


class ProjectionsAttention(nn.Module):
    """softmax of what is compared and of the positions, each head with D features.

    The score of query i and key j is q_i . k_j / sqrt(D), or cos(x_i, x_j) divided by
    the temperature, plus that of their offset: the query's, (q1 . row[l - j] + q2 .
    column[k - i]) / sqrt(D), or, where there is no query map, the head's own, u . row
    + v . column, as in the models without content.

    Args:
        settings: Of the model.
        grid: Rows and columns of positions.
    """

    form: Form = "shipped"
    recorder = None

    def __init__(self, settings: ProjectionsSettings, grid: tuple[int, int]):
        super().__init__()
        self.heads, self.width, self.grid = settings.heads, settings.width, grid
        self.scores, self.temperature = settings.scores, settings.temperature
        joined = settings.heads * settings.width
        # In the order of the attention with all maps, so that what both have starts
        # alike.
        if settings.scores not in WITHOUT_QUERY:
            self.query = Linear(settings.width, joined, bias=False)
        if settings.scores in ("separate", "no-query"):
            self.key = Linear(settings.width, joined, bias=False)
        self.values = ProjectedValues(settings.heads, settings.width, settings.values)
        self.dropout = AttentionDropout(settings.attention_dropout)
        weighing = settings.scores in WITHOUT_QUERY
        positions = PositionsOfHeads if weighing else PositionsOfQueries
        self.positions = positions(grid, settings.width, settings.heads)

    def forward(
        self, features: Tensor, keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Features to features, (batch, positions, width), and the keys used."""
        queries = self._mapped(features, "query")
        if keys is None:
            keys = self._keys(features, queries)
        values = self._values(features, queries)
        positions = self.positions(queries)
        # torch's fused attention is slower than products where masks are drawn.
        fused = self.form == "shipped" and not self.dropout.active
        attend = self._fused if fused and recorder_of(self) is None else self._plain
        return self.values.output(attend(queries, keys, values, positions)), keys

    def _mapped(self, features: Tensor, name: str) -> Tensor:
        """(batch, heads, positions, D) of a map, or (batch, 1, positions, D) of none.

        Cosines are products of features of length one; the temperature takes the
        place of sqrt(D).
        """
        if hasattr(self, name):
            per_head = getattr(self, name)(features).unflatten(-1, (self.heads, -1))
            return per_head.transpose(1, 2)
        if self.scores == "cosine":
            features = F.normalize(features, dim=-1)
        return features.unsqueeze(1)

    def _keys(self, features: Tensor, queries: Tensor) -> Tensor:
        if self.scores in ("tied", "shared"):
            return queries
        return self._mapped(features, "key")

    def _values(self, features: Tensor, queries: Tensor) -> Tensor:
        if self.scores == "shared":
            return queries
        return self.values.per_head(features)

    @property
    def _scale(self) -> float:
        return 1 / self.temperature if self.scores == "cosine" else self.width**-0.5

    def _plain(
        self, queries: Tensor, keys: Tensor, values: Tensor, positions: Tensor
    ) -> Tensor:
        scores = queries @ keys.transpose(-2, -1) * self._scale + positions
        probabilities = scores.softmax(-1)
        if recorder_of(self) is not None:
            shape = (*probabilities.shape[:2], *self.grid, *self.grid)
            record(self, probabilities.view(shape))
        return self._joined(self.dropout(probabilities) @ values)

    def _fused(
        self, queries: Tensor, keys: Tensor, values: Tensor, positions: Tensor
    ) -> Tensor:
        shape = (len(queries), self.heads, -1, -1)
        contexts = F.scaled_dot_product_attention(
            queries.expand(shape),
            keys.expand(shape),
            values.expand(shape),
            attn_mask=positions,
            scale=self._scale,
        )
        return self._joined(contexts)

    def _joined(self, contexts: Tensor) -> Tensor:
        """(batch, positions, heads * D) of (batch, heads, positions, D)."""
        return contexts.transpose(1, 2).flatten(2)
