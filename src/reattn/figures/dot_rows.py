"""Rows of models with a point for each quantity, or two joined for a pair."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from reattn.figures.headings import LINE, draw_text, small_print
from reattn.figures.style import (
    BLUE,
    GREY,
    PALE,
    SMALL,
    VERMILION,
    WIDTH,
    inset,
    new_sheet,
)

Pair = tuple[pd.Series | None, pd.Series | None]


@dataclass(frozen=True)
class Quantity:
    """A column of models.csv as a panel.

    Attributes:
        column: Its name in the table.
        title: Its name and unit on the page.
        divisor: From the table's unit to the page's.
        deviation: Column of its standard deviation, if it has one.
        interval: Columns of the ends of its interval, if it has one.
        logarithmic: Whether the axis is.
    """

    column: str
    title: str
    divisor: float = 1
    deviation: str | None = None
    interval: tuple[str, str] | None = None
    logarithmic: bool = False


QUANTITIES = (
    Quantity(
        "accuracy_mean",
        "Accuracy (%)",
        interval=("accuracy_ci_low", "accuracy_ci_high"),
    ),
    Quantity("params", "Parameters (millions)", divisor=1e6, logarithmic=True),
    Quantity(
        "wall_time_plain_ms_mean",
        "Time per image (ms)",
        deviation="wall_time_plain_ms_std",
        logarithmic=True,
    ),
)
_ORDINARY = {"marker": "o", "color": BLUE, "markerfacecolor": "white"}
_HIERARCHICAL = {"marker": "D", "color": VERMILION}
_STYLES = (_ORDINARY, _HIERARCHICAL)
_NAMES, _ROW = 4.3, 0.62


def draw_rows(
    rows: Sequence[tuple[str, Pair]], title: str, note: str, reduced: str | None
) -> Figure:
    """A row a model or pair, a panel a quantity; call it inside `styled()`.

    Args:
        rows: Name, and the rows of models.csv of the ordinary and of the
            hierarchical model; one of them may be None.
        title: Heading.
        note: Small print under it.
        reduced: How the study falls short of the report, if it does.
    """
    lines = small_print([note], reduced, WIDTH - 0.1)
    top = 1.75 + LINE * len(lines)
    height = _ROW * len(rows)
    figure, sheet = new_sheet(top + height + 0.65)
    end = 0.1 + draw_text(sheet, title, lines, 0.05, 0.1)
    _draw_key(sheet, end + 0.45)
    for number, (label, _) in enumerate(rows):
        y = top + (number + 0.5) * _ROW
        name = "\n".join(textwrap.wrap(label, 31))
        sheet.text(0.05, y, name, size=SMALL, va="center", linespacing=1.0)
    width = (WIDTH - _NAMES) / len(QUANTITIES)
    for number, quantity in enumerate(QUANTITIES):
        left = _NAMES + number * width
        panel = inset(figure, left, top, width - 0.35, height)
        _draw_panel(panel, [pair for _, pair in rows], quantity)
    return figure


def _draw_key(sheet: Axes, y: float) -> None:
    for left, name, style in (
        (0.2, "ordinary", _ORDINARY),
        (2.3, "hierarchical", _HIERARCHICAL),
    ):
        sheet.plot(left, y - 0.08, markersize=4.5, linestyle="none", **style)
        sheet.text(left + 0.2, y, name, size=SMALL, va="baseline")


def _draw_panel(panel: Axes, pairs: Sequence[Pair], quantity: Quantity) -> None:
    panel.set_title(quantity.title, loc="left", pad=4)
    panel.set(ylim=(len(pairs) - 0.5, -0.5), yticks=[])
    panel.grid(False)
    panel.spines["left"].set_visible(False)
    numbers = np.array([[value_of(row, quantity) for row in pair] for pair in pairs])
    _scale(panel, numbers[np.isfinite(numbers)], quantity.logarithmic)
    for y, (pair, values) in enumerate(zip(pairs, numbers, strict=True)):
        panel.axhline(y, color=PALE, linewidth=0.4, zorder=0)
        if np.isfinite(values).all():
            panel.plot(values, [y, y], color=GREY, linewidth=1.2, zorder=1)
        for row, value, style in zip(pair, values, _STYLES, strict=True):
            _draw_value(panel, y, row, value, quantity, style)
        _print_values(panel, y, values, pair)


def _scale(panel: Axes, numbers: np.ndarray, logarithmic: bool) -> None:
    """Limits with room for the printed values at both sides."""
    if not numbers.size:
        panel.set(xticks=[])
        return
    low, high = numbers.min(), numbers.max()
    if not logarithmic:
        reach = 0.5 * max(high - low, 4.0)
        panel.set_xlim(low - reach, high + reach)
        return
    decades = max(np.log10(high / low), 0.5)
    panel.set_xscale("log")
    panel.set_xlim(low / 10 ** (0.5 * decades), high * 10 ** (0.5 * decades))
    ticks = (1,) if decades > 0.8 else (1, 2, 5)
    panel.xaxis.set_major_locator(LogLocator(subs=ticks))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter("{x:g}")


def value_of(row: pd.Series | None, quantity: Quantity) -> float:
    """A cell in the page's unit; NaN if there is none that the axis can show."""
    if row is None:
        return np.nan
    number = pd.to_numeric(row.get(quantity.column), errors="coerce")
    if number is None or (quantity.logarithmic and number <= 0):
        return np.nan
    return float(number) / quantity.divisor


def _draw_value(
    panel: Axes,
    y: float,
    row: pd.Series | None,
    value: float,
    quantity: Quantity,
    style: dict,
) -> None:
    if row is None or not np.isfinite(value):
        return
    ends = _ends(row, value, quantity)
    if np.isfinite(ends).all():
        panel.plot(
            ends, [y, y], color=style["color"], linewidth=2.2, alpha=0.4, zorder=2
        )
    panel.plot(value, y, markersize=4.5, linestyle="none", zorder=3, **style)


def _ends(row: pd.Series, value: float, quantity: Quantity) -> list[float]:
    """Both ends of a value's bar in the page's unit; NaN where it has none."""
    columns = quantity.interval or (quantity.deviation,)
    known = [pd.to_numeric(row.get(name), errors="coerce") for name in columns]
    parts = [np.nan if n is None else n / quantity.divisor for n in known]
    return parts if quantity.interval else [value - parts[0], value + parts[0]]


def _print_values(panel: Axes, y: float, values: np.ndarray, pair: Pair) -> None:
    """Numbers outside of the points, or n/a where one is missing."""
    known = values[np.isfinite(values)]
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    place = {"size": SMALL, "va": "center_baseline", "textcoords": "offset points"}
    place["bbox"] = ground
    for row, value, style, x in zip(pair, values, _STYLES, (0.03, 0.2), strict=True):
        if row is not None and not np.isfinite(value):
            at_left = {"color": style["color"], "xycoords": ("axes fraction", "data")}
            panel.annotate("n/a", (x, y), (0, 0), ha="left", **place, **at_left)
    if len(known):
        right = _short(known.max())
        panel.annotate(right, (known.max(), y), (5, 0), ha="left", **place)
    if len(known) == 2:
        left = _short(known.min())
        panel.annotate(left, (known.min(), y), (-5, 0), ha="right", **place)


def _short(number: float) -> str:
    return f"{number:#.3g}".rstrip(".")
