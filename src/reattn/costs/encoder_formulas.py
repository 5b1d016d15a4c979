"""Operations of the transformer encoders, by hand formula; see `formulas`."""

from reattn.config.models import (
    EncoderSettings,
    Learned2DSettings,
    ProjectionsSettings,
    QuadraticSettings,
    ViTSettings,
)
from reattn.costs.projections import attention_products, with_matched_width
from reattn.costs.shapes import CHANNELS, NEIGHBOURS, grid_of

Terms = dict[str, int]


def encoder_multiply_accumulates(
    settings: EncoderSettings, image_size: int, num_classes: int
) -> Terms:
    """Entrance + L (attention + 2 n D F) + D K; HA makes its keys only once.

    n positions (ViT: and the class token), width D, feed-forward F, L layers.
    """
    grid = grid_of(settings, image_size)
    settings = with_matched_width(settings, grid)
    tokens = grid**2 + (1 if isinstance(settings, ViTSettings) else 0)
    layers, width = settings.layers, settings.width
    parts = _attention(settings, grid, tokens)
    keys = parts.pop("keys", 0)
    return {
        **_entrance(settings, image_size, tokens),
        **{name: layers * cost for name, cost in parts.items()},
        "keys": keys * (1 if settings.hierarchical else layers),
        "feed_forward": layers * 2 * tokens * width * settings.feed_forward,
        "classifier": width * num_classes,
    }


def _entrance(settings: EncoderSettings, image_size: int, tokens: int) -> Terms:
    """n 3 p^2 D; ViT: (9 3 S + 4 9 S^2) pixels in the stem, then (n + 1) S p^2 D.

    Patches of side p, S channels in the stem.
    """
    pixels = settings.patch_size**2
    if not isinstance(settings, ViTSettings):
        return {"patches": tokens * CHANNELS * pixels * settings.width}
    stem = settings.stem_width
    convolutions = NEIGHBOURS * (CHANNELS + 4 * stem) * stem
    return {
        "stem": convolutions * image_size**2,
        "patches": tokens * stem * pixels * settings.width,
    }


def _attention(settings: EncoderSettings, grid: int, tokens: int) -> Terms:
    """Scores, then contexts h n^2 D, output n h D^2, and values n h D^2 if any.

    Of a mechanism of one's own: as if it had queries, keys and values.
    """
    if isinstance(settings, ProjectionsSettings):
        return attention_products(settings, grid)
    joined = settings.heads * settings.width
    project = tokens * settings.width * joined
    terms = {"contexts": tokens**2 * joined, "output": project}
    if isinstance(settings, QuadraticSettings):
        return terms | _quadratic_scores(settings)
    if isinstance(settings, Learned2DSettings):
        values = {"values": project} if settings.value_projection else {}
        return terms | values | _learned_scores(settings, grid)
    scores = {"scores": tokens**2 * joined}
    return terms | scores | {"queries": project, "keys": project, "values": project}


def _quadratic_scores(settings: QuadraticSettings) -> Terms:
    """8 h for the precisions S S^T, made twice; nothing for isotropic ones.

    The scores themselves, t . (d1, d2, d1^2, d2^2, d1 d2), are element-wise.
    """
    return {"precisions": 0 if settings.isotropic else 2 * 8 * settings.heads}


def _learned_scores(settings: Learned2DSettings, grid: int) -> Terms:
    """Without content h D (4 g - 2); with it q and k, q . k, and q . r.

    g patches along a side, so 2 g - 1 offsets along each axis.
    """
    joined, offsets = settings.heads * settings.width, 2 * grid - 1
    if not settings.content:
        return {"positions": 2 * offsets * joined}
    project = grid**2 * settings.width * joined
    return {
        "queries": project,
        "keys": project,
        "scores": grid**4 * joined,
        "positions": grid**3 * joined,
    }
