"""What the transformer encoders keep for backward; see `activations`.

h heads of width D over n positions (ViT: n + 1 tokens), feed-forward width F.
"""

from reattn.config.models import (
    EncoderSettings,
    Learned2DSettings,
    MechanismSettings,
    ProjectionsSettings,
    QuadraticSettings,
    ViTSettings,
)
from reattn.costs.projections import maps_of, with_matched_width
from reattn.costs.shapes import CHANNELS, Saved, grid_of

STEM_CONVOLUTIONS = 5


def encoder_activations(settings: EncoderSettings, image_size: int) -> Saved:
    """The entrance, and every layer's features, probabilities and weights."""
    grid = grid_of(settings, image_size)
    settings = with_matched_width(settings, grid)
    tokens = grid**2 + isinstance(settings, ViTSettings)
    block = _features(settings, tokens)
    shared, own = _probabilities(settings, tokens)
    once = settings.layers * shared + _folded_weights(settings, tokens)
    each = settings.layers * (block + own) + _entrance(settings, image_size, tokens)
    return Saved(once, each)


def _entrance(settings: EncoderSettings, image_size: int, tokens: int) -> int:
    """Patches; ViT: the image, the stem's maps before and after activation."""
    side = settings.patch_size
    if not isinstance(settings, ViTSettings):
        return tokens * CHANNELS * side**2
    maps = CHANNELS + 2 * STEM_CONVOLUTIONS * settings.stem_width
    return maps * image_size**2 + tokens * settings.stem_width * side**2


def _features(settings: EncoderSettings, tokens: int) -> int:
    """Contexts n h D, hidden features n F, and n D for each map of the block.

    Both norms and both parts read one. With content, queries are as large as the
    contexts; the positions' scores and the authors' transposition read copies.
    ViT's GELU keeps what it reads and what it makes.
    """
    maps, joined, hidden = 4, 1, 1
    if isinstance(settings, ViTSettings):
        joined, hidden = 2, 2
    if isinstance(settings, ProjectionsSettings | MechanismSettings):
        # Made and, once more, laid out by head.
        maps = maps_of(settings) if isinstance(settings, ProjectionsSettings) else 3
        joined = 1 + 2 * maps
        maps = 4
    if isinstance(settings, Learned2DSettings) and settings.content:
        joined = 2
        maps += 2 if settings.content_alignment == "authors" else 1
    features = settings.width * (maps + joined * settings.heads)
    return tokens * (features + hidden * settings.feed_forward)


def _probabilities(settings: EncoderSettings, tokens: int) -> Saved:
    """h n^2 for the probabilities, their dropout mask, and what it leaves of them.

    Probabilities that do not depend on the image are kept once; so is the
    quadratic models' mask, which all images of a step share.
    """
    square = settings.heads * tokens**2
    if isinstance(settings, ProjectionsSettings | MechanismSettings):
        # Scores, positions and probabilities; masks and what they leave.
        return Saved(0, 5 * square)
    dropout = 2 * square if settings.attention_dropout else 0
    if isinstance(settings, QuadraticSettings):
        return Saved(square + dropout, 0)
    if isinstance(settings, Learned2DSettings) and not settings.content:
        return Saved(square, dropout)
    return Saved(0, square + dropout)


def _folded_weights(settings: EncoderSettings, tokens: int) -> int:
    """h D^2 for every product of two weight maps; shared blocks make them once.

    Content and positions: keys with queries; positions with queries, 2 h n D.
    """
    if isinstance(settings, ProjectionsSettings | MechanismSettings):
        return 0
    product = settings.heads * settings.width**2
    blocks = 1 if settings.hierarchical else settings.layers
    if isinstance(settings, ViTSettings):
        return blocks * 2 * product
    if isinstance(settings, QuadraticSettings):
        return 0
    values = product if settings.value_projection else 0
    if not settings.content:
        return blocks * values
    positions = 2 * settings.heads * tokens * settings.width
    return blocks * (values + product + positions)
