"""Published accuracies beside the measured ones, each with its interval."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reattn.figures.headings import LINE, draw_text, small_print
from reattn.figures.published_marks import HOW, MARKS, SCALES, TITLE
from reattn.figures.style import INK, PALE, SMALL, WIDTH, inset, new_sheet

_NAMES, _NUMBERS, _ROW = 4.3, 1.4, 0.68


def draw_published(models: pd.DataFrame, reduced: str | None) -> Figure:
    """A row a model, on one axis in percent; call it inside `styled()`.

    Args:
        models: What `with_expected_runs` returns; cells without a number are n/a.
        reduced: How the study falls short of the report, if it does.
    """
    notes = [*HOW, *([SCALES] if reduced else [])]
    lines = small_print(notes, reduced, WIDTH - 0.1)
    top, height = 1.75 + LINE * len(lines), _ROW * len(models)
    figure, sheet = new_sheet(top + height + 0.65)
    end = 0.1 + draw_text(sheet, TITLE, lines, 0.05, 0.1)
    _draw_key(sheet, end + 0.45)
    width = WIDTH - _NAMES - _NUMBERS * len(MARKS) - 0.2
    panel = inset(figure, _NAMES, top, width, height)
    panel.set(xlim=_limits(models), ylim=(len(models) - 0.5, -0.5), yticks=[])
    panel.spines["left"].set_visible(False)
    for place, (_, row) in enumerate(models.iterrows()):
        _draw_row(panel, place, row)
        _print_row(sheet, top + (place + 0.5) * _ROW, row)
    heads = ("last epoch", "authors'", "published")
    for number, (mark, head) in enumerate(zip(MARKS, heads, strict=True)):
        style = {"size": SMALL, "ha": "right", "color": mark.style["color"]}
        sheet.text(_right(number), top - 0.12, head, va="baseline", **style)
    sheet.text(_NAMES, top - 0.12, "Accuracy (%)", va="baseline")
    return figure


def _limits(models: pd.DataFrame) -> tuple[float, float]:
    """From a multiple of ten below all numbers, so that narrow intervals are seen."""
    columns = {column for mark in MARKS for column in (mark.column, *(mark.ends or ()))}
    known = models[sorted(columns & set(models))].apply(pd.to_numeric, errors="coerce")
    lowest = np.nanmin([100.0, known.min().min()])
    return max(0.0, 10 * np.floor((lowest - 1) / 10)), 100.0


def _right(number: int) -> float:
    return WIDTH - _NUMBERS * (len(MARKS) - 1 - number) - 0.05


def _draw_key(sheet: Axes, y: float) -> None:
    x = 0.2
    for mark in MARKS:
        sheet.plot(x, y - 0.08, markersize=4.2, linestyle="none", **mark.style)
        sheet.text(x + 0.2, y, mark.name, size=SMALL, va="baseline")
        x += 0.95 + 0.128 * len(mark.name)


def _draw_row(panel: Axes, place: int, row: pd.Series) -> None:
    panel.axhline(place + 0.5, color=PALE, linewidth=0.4, zorder=0)
    for mark in MARKS:
        value, y = _number(row, mark.column), place + mark.aside
        low, high = (_number(row, end) for end in mark.ends or (mark.column,) * 2)
        line = {"color": mark.style["color"], "zorder": 2}
        if mark.ends and np.isfinite([low, high]).all():
            panel.plot([low, high], [y, y], linewidth=1.4, **line)
            panel.plot([low, high], [y, y], "|", markersize=4.5, **line)
        if np.isfinite(value):
            panel.plot(
                value, y, markersize=4.2, linestyle="none", zorder=3, **mark.style
            )


def _print_row(sheet: Axes, y: float, row: pd.Series) -> None:
    name = "\n".join(textwrap.wrap(str(row["label"]), 31))
    sheet.text(0.05, y, name, size=SMALL, va="center", linespacing=1.0, color=INK)
    for number, mark in enumerate(MARKS):
        value = _number(row, mark.column)
        text = f"{value:.2f}" if np.isfinite(value) else "n/a"
        place = {"size": SMALL, "ha": "right", "va": "center_baseline"}
        sheet.text(_right(number), y, text, color=mark.style["color"], **place)


def _number(row: pd.Series, column: str) -> float:
    value = pd.to_numeric(row.get(column), errors="coerce")
    return np.nan if value is None else float(value)
