"""What attention with fewer maps of the features costs, from its settings alone.

h heads of width D over n positions, g patches along a side of the image.
"""

from reattn.config.models import EncoderSettings, ProjectionsSettings

WITHOUT_QUERY = ("no-query", "dot", "cosine")
# Maps from D to h D features, values aside.
COMPARING_MAPS = {
    "separate": 2,
    "tied": 1,
    "shared": 1,
    "no-key": 1,
    "no-query": 1,
    "dot": 0,
    "cosine": 0,
}


def maps_of(settings: ProjectionsSettings) -> int:
    """Maps from features to all heads' queries, keys and values."""
    return COMPARING_MAPS[settings.scores] + (settings.values == "separate")


def attention_parameters(settings: ProjectionsSettings, grid: int) -> int:
    """h D^2 a map, the output map, the positions' tables, and what weighs them.

    Without a query two maps with a bias take the tables' D / 2 features to h scores.
    """
    width, joined = settings.width, settings.heads * settings.width
    tables = 2 * (2 * grid - 1) * (width // 2)
    weighing = 0
    if settings.scores in WITHOUT_QUERY:
        weighing = 2 * (width // 2 + 1) * settings.heads
    return (
        maps_of(settings) * width * joined
        + joined * width
        + width
        + tables
        + (weighing)
    )


def attention_products(settings: ProjectionsSettings, grid: int) -> dict[str, int]:
    """n D h D a map, h n^2 D for scores (once without heads of their own), positions.

    Positions: n g h D of queries; without a query h D (2 g - 1).
    """
    tokens, joined = grid**2, settings.heads * settings.width
    heads = 1 if settings.scores in ("dot", "cosine") else settings.heads
    positions = tokens * grid * joined
    if settings.scores in WITHOUT_QUERY:
        positions = 2 * (2 * grid - 1) * (settings.width // 2) * settings.heads
    return {
        "projections": maps_of(settings) * tokens * settings.width * joined,
        "scores": tokens**2 * heads * settings.width,
        "positions": positions,
        "contexts": tokens**2 * joined,
        "output": tokens * settings.width * joined,
    }


def with_matched_width(settings: EncoderSettings, grid: int) -> EncoderSettings:
    """The settings, with the width at which blocks are as large as with all maps.

    Args:
        settings: Of any encoder; only `matched` ones are changed.
        grid: Patches along a side.

    Returns:
        Settings whose blocks have the number of parameters that is nearest to that of
        blocks with separate maps of the width asked for. Widths are even.
    """
    if not getattr(settings, "matched", False):
        return settings
    full = settings.model_copy(update={"scores": "separate", "values": "separate"})
    aim = block_parameters(full, grid)
    width = settings.width
    while block_parameters(_of_width(settings, width + 2), grid) <= aim:
        width += 2
    widths = [width, width + 2]
    nearest = min(
        widths, key=lambda w: abs(block_parameters(_of_width(settings, w), grid) - aim)
    )
    return _of_width(settings, nearest)


def _of_width(settings: ProjectionsSettings, width: int) -> ProjectionsSettings:
    return settings.model_copy(update={"width": width, "matched": False})


def block_parameters(settings: ProjectionsSettings, grid: int) -> int:
    """Parameters of one block: attention, feed-forward part and normalisations."""
    width, hidden = settings.width, settings.feed_forward
    feed_forward = 2 * width * hidden + width + hidden
    return attention_parameters(settings, grid) + feed_forward + 4 * width
