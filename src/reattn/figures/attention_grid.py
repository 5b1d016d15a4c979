"""Attention maps as a grid: a row a layer, a column a head.

A query pixel's maps are Fig. 8a of the report, the average over queries Fig. 8b.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reattn.figures.headings import Heading, draw_heading
from reattn.figures.photographs import mark_queries
from reattn.figures.style import GREY, INK, SEQUENTIAL, SMALL, WIDTH, new_sheet

SMALLEST, LARGEST = 0.8, 1.55  # cm, the side of a map
_LEFT, _NUMBER, _HEAD_LINE = 1.15, 0.31, 0.42


@dataclass(frozen=True)
class AttentionGrid:
    """All that a grid figure shows.

    Attributes:
        heading: What the figure says about itself.
        image: uint8 (H, W, 3).
        maps: (layers, heads, h, w), each scaled by its own maximum.
        numbers: Arrays (layers, heads) in percent, printed under each map.
        query: Row and column in the grid, or None for averages.
    """

    heading: Heading
    image: np.ndarray
    maps: np.ndarray
    numbers: Sequence[np.ndarray]
    query: tuple[int, int] | None = None


@dataclass(frozen=True)
class _Layout:
    height: float
    width: float
    gap: float
    sheet_width: float

    @classmethod
    def of(cls, maps: np.ndarray) -> "_Layout":
        """Maps that fill the text block, if that leaves them large enough."""
        _, heads, rows, columns = maps.shape
        gap_cells = max(1, round(columns / 12))
        cells = heads * columns + (heads - 1) * gap_cells
        cell = (WIDTH - _LEFT - 0.1) / cells
        cell = min(
            max(cell, SMALLEST / max(rows, columns)), LARGEST / max(rows, columns)
        )
        needed = _LEFT + 0.1 + cell * cells
        return cls(cell * rows, cell * columns, cell * gap_cells, max(WIDTH, needed))

    def corner(self, head: int) -> float:
        return _LEFT + head * (self.width + self.gap)


def draw_grid(grid: AttentionGrid) -> Figure:
    """Draw the maps of every layer and head; call it inside `styled()`."""
    layout = _Layout.of(grid.maps)
    layers, heads = grid.maps.shape[:2]
    top = 0.1 + grid.heading.height(layout.sheet_width) + _HEAD_LINE
    pitch = layout.height + _NUMBER * len(grid.numbers) + 0.16
    figure, sheet = new_sheet(top + layers * pitch, layout.sheet_width)
    size = draw_heading(sheet, grid.heading, grid.image)
    _name_heads(sheet, layout, heads, top - 0.1)
    for layer in range(layers):
        _draw_layer(sheet, grid, layout, layer, top + layer * pitch)
    if grid.query is not None:
        cells = grid.maps.shape[2:]
        tops = [top + layer * pitch for layer in range(layers)]
        corners = [(layout.corner(head), y) for y in tops for head in range(heads)]
        mark_queries(sheet, corners, (layout.height, layout.width), cells, grid.query)
        mark_queries(sheet, [(0.05, 0.1)], size, cells, grid.query)
    return figure


def _name_heads(sheet: Axes, layout: _Layout, heads: int, y: float) -> None:
    sheet.text(0.05, y, "Head", size=SMALL, va="baseline")
    for head in range(heads):
        middle = layout.corner(head) + layout.width / 2
        sheet.text(middle, y, str(head + 1), size=SMALL, ha="center", va="baseline")


def _draw_layer(
    sheet: Axes, grid: AttentionGrid, layout: _Layout, layer: int, top: float
) -> None:
    maps = grid.maps[layer]
    middle = top + layout.height / 2
    sheet.text(0.05, middle, f"Layer {layer + 1}", size=SMALL, va="center")
    strip = strip_of_maps(maps, layout.gap / layout.width)
    right = layout.corner(len(maps) - 1) + layout.width
    extent = (_LEFT, right, top + layout.height, top)
    sheet.imshow(strip, extent=extent, interpolation="none", aspect="auto")
    for line, (numbers, colour) in enumerate(
        zip(grid.numbers, (INK, GREY), strict=False)
    ):
        y = top + layout.height + _NUMBER * (line + 1) - 0.04
        for head, number in enumerate(numbers[layer]):
            x = layout.corner(head) + layout.width / 2
            style = {"size": SMALL, "color": colour, "ha": "center"}
            sheet.text(x, y, percent(number), va="baseline", **style)


def strip_of_maps(maps: np.ndarray, gap: float) -> np.ndarray:
    """Maps (heads, h, w) side by side as one RGBA image with clear gaps.

    Args:
        maps: Values from 0 upwards; each map is divided by its own maximum.
        gap: Width of a gap as a share of a map's width.
    """
    highest = maps.max(axis=(1, 2), keepdims=True)
    shares = maps / np.where(highest > 0, highest, 1)
    images = SEQUENTIAL(shares, bytes=True)
    gap_cells = round(gap * maps.shape[2])
    clear = ((0, 0), (0, 0), (0, gap_cells), (0, 0))
    joined = np.concatenate(list(np.pad(images, clear)), axis=1)
    return joined[:, : joined.shape[1] - gap_cells]


def percent(number: float) -> str:
    """A percentage in two digits, short enough to stand under a map."""
    if not np.isfinite(number):
        return "n/a"
    if number >= 9.95:
        return f"{number:.0f}"
    if number >= 0.0095:
        return f"{number:#.2g}"
    return "<0.01" if number > 0 else "0"
