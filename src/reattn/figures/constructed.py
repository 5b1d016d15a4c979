"""The constructed task: who attends to whom, for every form of scores."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from reattn.errors import ReattnError
from reattn.figures.catalogue import FigureRecord, write_catalogue
from reattn.figures.constructed_panels import GROUPS, Panel, draw_panels
from reattn.figures.style import styled
from reattn.figures.svg import save_svg
from reattn.measure.constructed_forms import ATTENTION_COLUMNS, KINDS, LABELS, WANTED

_TITLE = "Attend to B where A is seen, to C where B, to A where C"
_READING = (
    "Rows: the token that looks. Columns: the kind that it looks at, in % of its "
    "attention. Framed: the kind that it should look at."
)
_ANSWERS = (
    "A token answers what the one token carries that it attends to most. Right: "
    "answers that are right, mean of {seeds} seeds (and range). At most: what no "
    "weights can exceed. Itself: how often a token attends to itself most, before and "
    "after training."
)
_FILE = "constructed.svg"
_COUNTED = ("accuracy", "self_largest_initial", "self_largest_trained")
_NUMBERS = (
    *("accuracy_bound", "n_seeds"),
    *(f"{name}_{part}" for name in _COUNTED for part in ("mean", "min", "max")),
)


def draw_constructed(results: Path) -> None:
    """Draw a study's constructed task into figures/constructed.

    Reads tables/constructed.csv and measure/constructed-attention.csv, of which the
    first seed is shown.

    Args:
        results: The study's folder.

    Raises:
        ReattnError: a file is missing, torn or foreign.
    """
    folder = results / "figures" / "constructed"
    remedy = f"Make it: python -m reattn tables {results.name}"
    path = results / "tables" / "constructed.csv"
    table = _read(path, ("scores", "symmetric"), _NUMBERS, remedy)
    trained = table[table["symmetric"].isin(list(GROUPS))]
    if trained.empty:
        why = "the constructed task has not been trained"
        write_catalogue(folder, [FigureRecord(None, "none", why, why)])
        return
    remedy = f"Make it: python -m reattn constructed {results.name}"
    path = results / "measure" / "constructed-attention.csv"
    *names, mass = ATTENTION_COLUMNS
    attention = _read(path, names, (mass,), remedy)
    _draw(trained, attention, folder)


def _draw(trained: pd.DataFrame, attention: pd.DataFrame, folder: Path) -> None:
    seed = attention["seed"].min()
    panels = [_panel(row, attention, seed) for _, row in trained.iterrows()]
    lines = [
        f"{_READING} Numbers in the squares: seed {seed}, after training.",
        _ANSWERS.format(seeds=int(trained["n_seeds"].max())),
    ]
    with styled():
        figure = draw_panels(panels, _TITLE, lines)
        save_svg(figure, folder / _FILE, title=_TITLE)
    right = "; ".join(
        f"{panel.label}: {100 * panel.row['accuracy_mean']:.0f} % right"
        for panel in panels
    )
    alt = f"Attention by kind of token for {len(panels)} forms of scores. {right}."
    caption = " ".join([f"{_TITLE}.", *lines])
    write_catalogue(folder, [FigureRecord(_FILE, "constructed", caption, alt)])


def _panel(row: pd.Series, attention: pd.DataFrame, seed: int) -> Panel:
    own = attention["scores"] == row["scores"]
    own &= (attention["seed"] == seed) & (attention["state"] == "trained")
    mass = attention[own].pivot_table(index="query", columns="key", values="mass")
    mass = mass.reindex(index=list(WANTED), columns=list(KINDS))
    label = LABELS.get(row["scores"], str(row["scores"]))
    return Panel(label, row, 100 * mass.to_numpy(dtype=float))


def _read(
    path: Path, names: Sequence[str], numbers: Sequence[str], remedy: str
) -> pd.DataFrame:
    """A table that has these columns, some of which hold numbers or n/a."""
    if not path.exists():
        raise ReattnError(f"{path} is missing. {remedy}")
    try:
        if path.read_bytes()[-1:] not in (b"\n", b""):
            raise ReattnError(f"{path} ends in the middle of a row. {remedy}")
        table = pd.read_csv(path)
        missing = [column for column in (*names, *numbers) if column not in table]
        if missing:
            raise ReattnError(f"{path} lacks {', '.join(missing)}. {remedy}")
        return table.assign(**{name: pd.to_numeric(table[name]) for name in numbers})
    except (ValueError, OSError) as fault:  # all of pandas' faults are ValueErrors
        reason = str(fault).strip().rstrip(".")
        raise ReattnError(f"{path} is not a table ({reason}). {remedy}") from None
