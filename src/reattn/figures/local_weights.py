"""A SAN's local weights: 3x3 tiles, a row an attention call, a tile a channel.

Pairwise weights are probabilities, on a sequential scale from 0; patchwise ones
have no softmax and stand on a diverging scale around 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure

from reattn.figures.headings import Heading, draw_heading
from reattn.figures.photographs import draw_boxes, mark_queries
from reattn.figures.style import DIVERGING, GREY, SEQUENTIAL, SMALL, WIDTH, new_sheet

MOST_COLUMNS, LARGEST = 16, 1.1
_LEFT, _LINE, _HEAD_LINE = 1.75, 0.3, 0.42
_BELOW, _BETWEEN = 0.12, 0.3  # each call, and two calls side by side
_PIXELS, _GAP = 12, 2  # of a tile of 3 cells, and between two tiles
_SHARE = _PIXELS / (_PIXELS + _GAP)


@dataclass(frozen=True)
class LocalWeights:
    """All that a figure of local weights shows.

    Attributes:
        heading: What the figure says about itself.
        image: uint8 (H, W, 3).
        weights: One array (channels, 3, 3) an attention call.
        map_sizes: Height and width of the map of each call.
        normalised: Whether the nine weights are probabilities.
        pixel: The query pixel, or None for averages.
    """

    heading: Heading
    image: np.ndarray
    weights: Sequence[np.ndarray]
    map_sizes: Sequence[Sequence[int]]
    normalised: bool
    pixel: tuple[int, int] | None = None


def colours_of(normalised: bool) -> Colormap:
    """Sequential for probabilities, diverging for weights of either sign."""
    return SEQUENTIAL if normalised else DIVERGING


@dataclass(frozen=True)
class _Places:
    """Where calls stand: few channels leave room for several calls in a row."""

    columns: int
    pitch: float
    across: int
    heights: Sequence[float]

    @classmethod
    def of(cls, weights: Sequence[np.ndarray]) -> "_Places":
        columns = min(MOST_COLUMNS, max(map(len, weights)))
        pitch = min((WIDTH - _LEFT) / columns, LARGEST)
        across = int((WIDTH + _BETWEEN) // (_LEFT + columns * pitch + _BETWEEN))
        across = max(1, min(across, len(weights)))
        heights = [max(-(-len(w) // columns) * pitch, 3 * _LINE) for w in weights]
        rows = [max(heights[k : k + across]) for k in range(0, len(heights), across)]
        return cls(columns, pitch, across, rows)

    def left(self, call: int) -> float:
        return (call % self.across) * (_LEFT + self.columns * self.pitch + _BETWEEN)

    def top(self, call: int) -> float:
        return sum(height + _BELOW for height in self.heights[: call // self.across])


def draw_local_weights(local: LocalWeights) -> Figure:
    """Draw the weights of every call and channel; call it inside `styled()`."""
    places = _Places.of(local.weights)
    top = 0.1 + local.heading.height(WIDTH) + _HEAD_LINE
    figure, sheet = new_sheet(top + places.top(len(places.heights) * places.across))
    size = draw_heading(sheet, local.heading, local.image)
    if local.pixel is not None:
        mark_queries(sheet, [(0.05, 0.1)], size, local.image.shape[:2], local.pixel)
    for column in range(places.across):
        _name_channels(sheet, places, places.left(column), top - 0.1)
    for call in range(len(local.weights)):
        _draw_call(sheet, local, call, places, top + places.top(call))
    return figure


def _name_channels(sheet: Axes, places: _Places, left: float, y: float) -> None:
    sheet.text(left + 0.05, y, "Channel", size=SMALL, va="baseline")
    for column in range(places.columns):
        x = left + _LEFT + (column + _SHARE / 2) * places.pitch
        sheet.text(x, y, str(column + 1), size=SMALL, ha="center", va="baseline")


def _draw_call(
    sheet: Axes, local: LocalWeights, call: int, places: _Places, top: float
) -> None:
    weights, left = local.weights[call], places.left(call)
    highest = float(np.abs(weights).max())
    rows, wide = local.map_sizes[call]
    end = f"0 to {highest:#.2g}" if local.normalised else f"±{highest:#.2g}"
    for line, (text, colour) in enumerate(
        [(f"Call {call + 1}", "black"), (f"{rows}×{wide} map", GREY), (end, GREY)]
    ):
        y = top + (line + 0.8) * _LINE
        sheet.text(left + 0.05, y, text, size=SMALL, color=colour, va="baseline")
    for line, start in enumerate(range(0, len(weights), places.columns)):
        chosen = weights[start : start + places.columns]
        tiles = shares(chosen, highest, local.normalised)
        corner = left + _LEFT, top + line * places.pitch
        _draw_tiles(sheet, tiles, local.normalised, corner, places.pitch)


def _draw_tiles(
    sheet: Axes,
    tiles: np.ndarray,
    normalised: bool,
    corner: tuple[float, float],
    pitch: float,
) -> None:
    (left, top), side = corner, pitch * _SHARE
    images = colours_of(normalised)(tiles, bytes=True)
    fine = images.repeat(_PIXELS // 3, axis=1).repeat(_PIXELS // 3, axis=2)
    joined = np.concatenate(
        list(np.pad(fine, ((0, 0), (0, 0), (0, _GAP), (0, 0)))), axis=1
    )
    extent = (left, left + len(tiles) * pitch, top + side, top)
    sheet.imshow(joined, extent=extent, interpolation="none", aspect="auto")
    corners = [(left + column * pitch, top) for column in range(len(tiles))]
    draw_boxes(sheet, corners, side, side, edgecolor=GREY, linewidth=0.4)


def shares(weights: np.ndarray, highest: float, normalised: bool) -> np.ndarray:
    """Weights as places on the colour scale; 0 is in the middle of a diverging one."""
    highest = highest or 1.0
    return weights / highest if normalised else 0.5 + weights / (2 * highest)
