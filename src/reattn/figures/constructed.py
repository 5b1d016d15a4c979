"""The constructed task: who attends to whom, for every form of scores."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from reattn.errors import ReattnError
from reattn.figures.catalogue import FigureRecord, write_catalogue
from reattn.figures.headings import LINE, draw_text, small_print
from reattn.figures.style import (
    GREY,
    INK,
    LARGE,
    NORMAL,
    SEQUENTIAL,
    SMALL,
    VERMILION,
    WIDTH,
    new_sheet,
    styled,
)
from reattn.figures.svg import save_svg
from reattn.measure.constructed_forms import ATTENTION_COLUMNS, KINDS, LABELS, WANTED

_TITLE = "Attend to B where A is seen, to C where B, to A where C"
_READING = (
    "Rows: the token that looks. Columns: the kind that it looks at, in % of its "
    "attention. Framed: the kind that it should look at."
)
_GROUPS = {
    "yes": "Symmetric scores: A matches B as well as B matches A",
    "no": "Scores that tell who asks from who is asked",
}
_COUNTED = ("accuracy", "self_largest_initial", "self_largest_trained")
_NEEDED = ("scores", "symmetric", "accuracy_bound", "n_seeds")
_NAME, _ACROSS, _DOWN = "constructed.svg", 4, 4.75
_PITCH = WIDTH / _ACROSS
_INDENT, _CELL = 0.45, (0.76, 0.62)  # cm: width, height


@dataclass(frozen=True)
class _Form:
    """One panel: its row of tables/constructed.csv and its attention in percent."""

    row: pd.Series
    mass: np.ndarray


def draw_constructed(results: Path) -> None:
    """Draw a study's constructed task into figures/constructed.

    Reads tables/constructed.csv and measure/constructed-attention.csv, of which the
    first seed is shown.

    Raises:
        ReattnError: a file is missing, torn or foreign.
    """
    folder = results / "figures" / "constructed"
    spread = [f"{name}_{part}" for name in _COUNTED for part in ("mean", "min", "max")]
    remedy = f"Make it: python -m reattn tables {results.name}"
    path = results / "tables" / "constructed.csv"
    table = _read(path, (*_NEEDED, *spread), remedy)
    trained = table[table["symmetric"].isin(list(_GROUPS))]
    if trained.empty:
        why = "the constructed task has not been trained"
        write_catalogue(folder, [FigureRecord(None, "none", why, why)])
        return
    remedy = f"Make it: python -m reattn constructed {results.name}"
    path = results / "measure" / "constructed-attention.csv"
    attention = _read(path, ATTENTION_COLUMNS, remedy)
    seed = attention["seed"].min()
    forms = [_Form(row, _mass(attention, row, seed)) for _, row in trained.iterrows()]
    note = f"{_READING} Numbers in the squares: seed {seed}, after training."
    with styled():
        save_svg(_draw(forms, note), folder / _NAME, title=_TITLE)
    write_catalogue(folder, [_record(forms, note)])


def _read(path: Path, needed: Sequence[str], remedy: str) -> pd.DataFrame:
    if not path.exists():
        raise ReattnError(f"{path} is missing. {remedy}")
    try:
        table = pd.read_csv(path)
    except (ValueError, OSError) as fault:  # all of pandas' faults are ValueErrors
        reason = str(fault).strip().rstrip(".")
        raise ReattnError(f"{path} is not a table ({reason}). {remedy}") from None
    missing = [column for column in needed if column not in table]
    if missing:
        raise ReattnError(f"{path} lacks {', '.join(missing)}. {remedy}")
    return table


def _mass(attention: pd.DataFrame, row: pd.Series, seed: int) -> np.ndarray:
    """(asked kinds, kinds) in percent; NaN where the file does not say."""
    own = attention["scores"] == row["scores"]
    own &= (attention["seed"] == seed) & (attention["state"] == "trained")
    table = attention[own].pivot(index="query", columns="key", values="mass")
    return 100 * table.reindex(index=list(WANTED), columns=list(KINDS)).to_numpy()


def _draw(forms: Sequence[_Form], note: str) -> Figure:
    lines = small_print([note, *_explanation(forms)], None, WIDTH - 0.1)
    groups = {
        title: [form for form in forms if form.row["symmetric"] == answer]
        for answer, title in _GROUPS.items()
    }
    rows = sum(-(-len(members) // _ACROSS) for members in groups.values())
    present = sum(bool(members) for members in groups.values())
    top = 0.95 + LINE * len(lines)
    figure, sheet = new_sheet(top + 0.6 * present + _DOWN * rows)
    draw_text(sheet, _TITLE, lines, 0.05, 0.1)
    for title, members in groups.items():
        if members:
            sheet.text(0.05, top, title, size=NORMAL, weight="bold", va="baseline")
        for place, form in enumerate(members):
            down, across = divmod(place, _ACROSS)
            _draw_form(sheet, form, across * _PITCH, top + 0.2 + down * _DOWN)
        top += 0.6 * bool(members) + _DOWN * -(-len(members) // _ACROSS)
    return figure


def _explanation(forms: Sequence[_Form]) -> list[str]:
    seeds = int(max(form.row["n_seeds"] for form in forms))
    return [
        f"Right: answers that are right, mean of {seeds} seeds (and their range). At "
        "most: what no weights can exceed. Itself: how often a token's largest weight "
        "is on itself, before and after training."
    ]


def _draw_form(sheet: Axes, form: _Form, left: float, top: float) -> None:
    label = textwrap.wrap(LABELS.get(form.row["scores"], form.row["scores"]), 27)
    for line, text in enumerate(label):
        y = top + 0.35 + LINE * line
        sheet.text(left + 0.05, y, text, size=SMALL, va="baseline")
    matrix = top + 0.75 + LINE * 1
    _draw_matrix(sheet, form.mass, left + _INDENT, matrix + 0.3)
    below = matrix + 0.3 + len(WANTED) * _CELL[1]
    for line, text in enumerate(_figures(form.row)):
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
    colour = "white" if known and percent < 60 else INK
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


def _record(forms: Sequence[_Form], note: str) -> FigureRecord:
    shares = [
        f"{LABELS.get(form.row['scores'], form.row['scores'])}: "
        f"{100 * form.row['accuracy_mean']:.0f} % right"
        for form in forms
    ]
    alt = f"Attention by kind of token for {len(forms)} forms. {'; '.join(shares)}."
    caption = " ".join([f"{_TITLE}.", note, *_explanation(forms)])
    return FigureRecord(_NAME, "constructed", caption, alt)
