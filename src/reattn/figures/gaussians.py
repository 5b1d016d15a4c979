"""Centres and spreads of quadratic attention heads, a panel a layer."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from reattn.figures.headings import LINE, draw_text, small_print
from reattn.figures.style import (
    GREY,
    PALE,
    PALETTE,
    SMALL,
    WIDTH,
    inset,
    new_sheet,
)

_COLUMNS, _PANEL, _LEFT, _BELOW = 3, 4.25, 1.0, 1.0


def draw_gaussians(
    centers: np.ndarray,
    covariances: np.ndarray,
    grid: tuple[int, int],
    title: str,
    lines: list[str],
    reduced: str | None = None,
) -> Figure:
    """Ellipses of 1 and 2 standard deviations around each head's centre.

    Args:
        centers: (layers, heads, 2), offsets key - query in patches, row then column;
            NaN where a head has no centre.
        covariances: (layers, heads, 2, 2).
        grid: Height and width of the map, in patches.
        title: Heading.
        lines: Small print under it.
        reduced: How the study falls short of the report, if it does.
    """
    layers = len(centers)
    print_lines = small_print(lines, reduced, WIDTH - 0.1)
    heading = 1.1 + LINE * len(print_lines)
    pitch = _PANEL + _BELOW
    figure, sheet = new_sheet(heading + -(-layers // _COLUMNS) * pitch)
    draw_text(sheet, title, print_lines, 0.05, 0.1)
    reach = _reach(centers, grid)
    for layer in range(layers):
        row, column = divmod(layer, _COLUMNS)
        left = _LEFT + column * WIDTH / _COLUMNS
        panel = inset(figure, left, heading + row * pitch, _PANEL, _PANEL)
        _draw_frame(panel, grid, reach)
        _draw_heads(panel, centers[layer], covariances[layer], reach)
        panel.set_title(f"Layer {layer + 1}", loc="left", pad=3)
        if column == 0:
            panel.set_ylabel("Row offset (patches)", labelpad=1)
        if layer + _COLUMNS >= layers:
            panel.set_xlabel("Column offset (patches)", labelpad=2)
    return figure


def _reach(centers: np.ndarray, grid: tuple[int, int]) -> float:
    """Largest offset shown: half a map at least, and nearly all centres."""
    farthest = np.abs(centers).max(axis=-1)
    farthest = farthest[np.isfinite(farthest)]
    nearly_all = np.quantile(farthest, 0.95) if farthest.size else 0.0
    return float(np.clip(np.ceil(nearly_all) + 1, max(grid) / 2 + 1, max(grid))) + 0.5


def _draw_frame(panel: Axes, grid: tuple[int, int], reach: float) -> None:
    panel.set(xlim=(-reach, reach), ylim=(reach, -reach), aspect="equal")
    panel.grid(False)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=True))
    _draw_cells(panel, reach)
    rows, columns = grid
    corner = -(columns // 2) - 0.5, -(rows // 2) - 0.5
    frame = {"fill": False, "edgecolor": GREY, "linestyle": (0, (4, 3))}
    panel.add_patch(Rectangle(corner, columns, rows, linewidth=0.7, **frame))
    panel.spines[:].set_visible(True)


def _draw_cells(panel: Axes, reach: float) -> None:
    """Borders of patches as one path, and the query's patch filled."""
    borders = np.arange(0.5 - np.ceil(reach), reach)
    ends = np.array([(-reach, reach)])
    columns = [np.column_stack([[x, x], *ends]) for x in borders]
    lines = [Path(line) for column in columns for line in (column, column[:, ::-1])]
    grid = Path.make_compound_path(*lines)
    panel.add_patch(
        PathPatch(grid, fill=False, edgecolor=PALE, linewidth=0.3, zorder=0)
    )
    panel.add_patch(Rectangle((-0.5, -0.5), 1, 1, color=PALE, zorder=0))


def _draw_heads(
    panel: Axes, centers: np.ndarray, covariances: np.ndarray, reach: float
) -> None:
    heads = [head for head in range(len(centers)) if np.isfinite(centers[head]).all()]
    for head in heads:
        contour = centers[head], covariances[head]
        colour = PALETTE[head % len(PALETTE)]
        panel.add_patch(ellipse(*contour, 1, colour, linewidth=0.9))
        dashed = {"linewidth": 0.6, "linestyle": (0, (2, 1.5))}
        panel.add_patch(ellipse(*contour, 2, colour, **dashed))
    for head in heads:
        _draw_badge(panel, head, centers[head], reach)


def _draw_badge(panel: Axes, head: int, center: np.ndarray, reach: float) -> None:
    """The number of a head at its centre, or at the edge towards it."""
    colour = PALETTE[head % len(PALETTE)]
    row, column = np.clip(center, -reach, reach)
    beyond = (row, column) != tuple(center)
    edge = {"markeredgecolor": GREY if beyond else "none", "markeredgewidth": 0.6}
    disc = {"markersize": 9.5 if beyond else 7, "markerfacecolor": (1, 1, 1, 0.75)}
    above = {"zorder": 3 + 0.01 * head, "clip_on": False}
    panel.plot(column, row, "o", **disc, **edge, **above)
    place = {"ha": "center", "va": "center_baseline"}
    panel.text(column, row, head + 1, size=SMALL, color=colour, **place, **above)


def ellipse(
    center: np.ndarray, covariance: np.ndarray, deviations: float, colour: str, **style
) -> Ellipse:
    """The contour at a number of standard deviations; x is the column offset."""
    variances, axes = np.linalg.eigh(covariance)
    widths = 2 * deviations * np.sqrt(variances)
    angle = np.degrees(np.arctan2(axes[0, 1], axes[1, 1]))
    return Ellipse(
        (center[1], center[0]),
        widths[1],
        widths[0],
        angle=angle,
        fill=False,
        edgecolor=colour,
        **style,
    )
