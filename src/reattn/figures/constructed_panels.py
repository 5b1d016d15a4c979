"""A panel for every form of scores: attention from kind to kind, and its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from reattn.figures.headings import LINE, draw_text, small_print
from reattn.figures.style import (
    GREY,
    INK,
    NORMAL,
    SEQUENTIAL,
    SMALL,
    VERMILION,
    WIDTH,
    new_sheet,
)
from reattn.measure.constructed_forms import KINDS, WANTED

GROUPS = {  # by what was measured of their scores
    "yes": "Symmetric scores: A matches B as well as B matches A",
    "no": "Scores that tell who asks from who is asked",
}
_ACROSS, _DOWN, _GROUP = 4, 4.1, 0.5  # panels in a row; cm a row; cm a heading
_PITCH, _INDENT = WIDTH / _ACROSS, 0.45
_CELL = (0.76, 0.62)  # cm: width, height
_LIGHT = 60  # percent from which a square is light enough for dark numbers


@dataclass(frozen=True)
class Panel:
    """What is shown of one form of scores.

    Attributes:
        label: Its name.
        row: Its row of tables/constructed.csv.
        mass: Attention in percent, (asked kinds, kinds); NaN where it is not known.
    """

    label: str
    row: pd.Series
    mass: np.ndarray


def draw_panels(panels: Sequence[Panel], title: str, lines: Sequence[str]) -> Figure:
    """Symmetric scores above, the others below; call it inside `styled()`.

    Args:
        panels: One a form; the column `symmetric` of their rows is yes or no.
        title: Heading.
        lines: Small print under it.
    """
    groups = {
        name: [panel for panel in panels if panel.row["symmetric"] == answer]
        for answer, name in GROUPS.items()
    }
    groups = {name: members for name, members in groups.items() if members}
    printed = small_print(lines, None, WIDTH - 0.1)
    top = 1.15 + LINE * len(printed)
    heights = [_DOWN * -(-len(members) // _ACROSS) for members in groups.values()]
    figure, sheet = new_sheet(top + sum(heights) + _GROUP * (len(groups) - 1))
    draw_text(sheet, title, printed, 0.05, 0.1)
    for (name, members), height in zip(groups.items(), heights, strict=True):
        sheet.text(0.05, top, name, size=NORMAL, weight="bold", va="baseline")
        for place, panel in enumerate(members):
            down, across = divmod(place, _ACROSS)
            _draw_panel(sheet, panel, across * _PITCH, top + 0.2 + down * _DOWN)
        top += height + _GROUP
    return figure


def _draw_panel(sheet: Axes, panel: Panel, left: float, top: float) -> None:
    sheet.text(left + 0.05, top + 0.3, panel.label, size=SMALL, va="baseline")
    _draw_matrix(sheet, panel.mass, left + _INDENT, top + 0.9)
    below = top + 0.9 + len(WANTED) * _CELL[1]
    for line, text in enumerate(_figures(panel.row)):
        y = below + 0.4 + LINE * line
        style = {"size": SMALL, "va": "baseline", "color": GREY if line else INK}
        sheet.text(left + 0.05, y, text, **style)


def _draw_matrix(sheet: Axes, mass: np.ndarray, left: float, top: float) -> None:
    width, height = _CELL
    named = {"size": SMALL, "ha": "center"}
    for column, kind in enumerate(KINDS):
        middle = left + (column + 0.5) * width
        sheet.text(middle, top - 0.1, kind, va="baseline", **named)
    for row, (query, wanted) in enumerate(WANTED.items()):
        middle = top + (row + 0.5) * height
        sheet.text(left - 0.2, middle, query, va="center", **named)
        for column in range(len(KINDS)):
            corner = (left + column * width, top + row * height)
            _draw_cell(sheet, mass[row, column], corner)
        corner = (left + KINDS.index(wanted) * width, top + row * height)
        frame = Rectangle(corner, width, height, fill=False, color=VERMILION)
        frame.set(linewidth=1.6, zorder=3)
        sheet.add_patch(frame)


def _draw_cell(sheet: Axes, percent: float, corner: tuple[float, float]) -> None:
    width, height = _CELL
    known = bool(np.isfinite(percent))
    face = SEQUENTIAL(percent / 100) if known else "white"
    tile = Rectangle(corner, width, height, facecolor=face, edgecolor="white")
    sheet.add_patch(tile)
    text = f"{percent:.0f}" if known else "n/a"
    colour = "white" if known and percent < _LIGHT else INK
    place = (corner[0] + width / 2, corner[1] + height / 2)
    sheet.text(*place, text, color=colour, size=SMALL, ha="center", va="center")


def _figures(row: pd.Series) -> list[str]:
    right = f"Right: {_with_range(row, 'accuracy')}"
    bound = row["accuracy_bound"]
    limit = f"At most: {100 * bound:.0f} %" if np.isfinite(bound) else "At most: 100 %"
    before = f"{100 * row['self_largest_initial_mean']:.0f}"
    after = f"{100 * row['self_largest_trained_mean']:.0f}"
    return [right, limit, f"Itself: {before} %, then {after} %"]


def _with_range(row: pd.Series, name: str) -> str:
    middle, low, high = (100 * row[f"{name}_{part}"] for part in ("mean", "min", "max"))
    text = f"{middle:.0f} %"
    return text if round(low) == round(high) else f"{text} ({low:.0f} to {high:.0f})"
