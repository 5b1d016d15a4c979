"""Photographs on a sheet, and marks for the queries on images and maps."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from reattn.figures.style import INK, VERMILION

Point = tuple[float, float]
_CLEAR = 0.018  # cm: half a line, so that the frame does not cover its cell


def draw_photograph(
    sheet: Axes, image: np.ndarray, left: float, top: float, side: float
) -> Point:
    """Draw a uint8 image (H, W, 3) within a square; return its height and width."""
    rows, columns = image.shape[:2]
    height, width = (side * n / max(rows, columns) for n in (rows, columns))
    extent = (left, left + width, top + height, top)
    sheet.imshow(image, extent=extent, interpolation="none", aspect="auto")
    draw_boxes(sheet, [(left, top)], height, width, edgecolor=INK, linewidth=0.5)
    return height, width


def mark_queries(
    sheet: Axes,
    corners: Iterable[Point],
    size: Point,
    grid: tuple[int, int],
    query: Sequence[int],
) -> None:
    """Frame the query's cell in every map; the cell itself stays visible.

    Args:
        sheet: Plane in cm.
        corners: Left and top edge of each map, in cm.
        size: Height and width of each map, in cm.
        grid: Cells down and across.
        query: Row and column of the query's cell.
    """
    down, across = size[0] / grid[0], size[1] / grid[1]
    cells = [
        (x + query[1] * across - _CLEAR, y + query[0] * down - _CLEAR)
        for x, y in corners
    ]
    box = down + 2 * _CLEAR, across + 2 * _CLEAR
    draw_boxes(sheet, cells, *box, edgecolor="white", linewidth=1.8)
    draw_boxes(sheet, cells, *box, edgecolor=VERMILION, linewidth=1.0)


def draw_boxes(
    sheet: Axes, corners: Iterable[Point], height: float, width: float, **style
) -> None:
    """Outline equal boxes as a single path, which keeps the file small."""
    shape = np.array([(0, 0), (width, 0), (width, height), (0, height), (0, 0)])
    boxes = [Path(shape + corner, closed=True) for corner in corners]
    path = Path.make_compound_path(*boxes)
    sheet.add_patch(PathPatch(path, fill=False, joinstyle="miter", **style))
