"""tables/constructed.csv: the constructed task, one row a form of scores."""

import csv
from collections.abc import Sequence
from pathlib import Path

from reattn.measure.constructed_forms import COLUMNS as MEASURED
from reattn.measure.constructed_forms import LABELS
from reattn.tables.cells import NOT_AVAILABLE, Row, split_reasons
from reattn.tables.statistics import mean

SPREAD = (
    *("accuracy", "self_largest_initial", "self_largest_trained", "mass_on_right"),
)
SAME = ("chance", "accuracy_bound", "steps", "sets", "parameters")
COUNTS = ("steps", "sets", "parameters")
COLUMNS = (
    *("scores", "label", "symmetric", "n_seeds"),
    *(f"{name}_{part}" for name in SPREAD for part in ("mean", "min", "max")),
    *SAME,
    "reason",
)

Measured = dict[str, str]


def constructed_rows(results: Path) -> list[Row]:
    """One row a form of scores: means and extremes over seeds, as shares of one.

    Args:
        results: The study's folder. Where measure/constructed.csv is not there or is
            none, every number is n/a.
    """
    measured, why = _read(results / "measure" / "constructed.csv")
    return [
        _row(scores, [row for row in measured if row["scores"] == scores], why)
        for scores in LABELS
    ]


def _read(path: Path) -> tuple[list[Measured], str]:
    """Its rows, and why a form that is not among them is not."""
    if not path.is_file():
        return [], "the constructed task has not been trained yet"
    foreign = f"{path.name} is torn or foreign; train the constructed task again"
    try:
        text = path.read_text(encoding="utf-8")
        rows = list(csv.DictReader(text.splitlines(keepends=True)))
    except (OSError, UnicodeError, csv.Error):
        return [], foreign
    if not text.endswith("\n") or not all(_is_whole(row) for row in rows):
        return [], foreign
    return rows, "not among the forms that were trained"


def _is_whole(row: Measured) -> bool:
    if set(row) != set(MEASURED) or None in row.values():
        return False
    try:
        [float(row[name]) for name in (*SPREAD, *SAME) if row[name] != NOT_AVAILABLE]
    except ValueError:
        return False
    return True


def _row(scores: str, measured: Sequence[Measured], why: str) -> Row:
    row = Row(scores=scores, label=LABELS[scores])
    answers = {seed["symmetric"] for seed in measured}
    agreed = answers.pop() if len(answers) == 1 else None
    row.put("symmetric", agreed, "seeds differ" if answers else why)
    row.put("n_seeds", len(measured), "")
    for name in SPREAD:
        values = [float(seed[name]) for seed in measured]
        row.put(f"{name}_mean", mean(values) if values else None, why)
        row.put(f"{name}_min", min(values, default=None), why)
        row.put(f"{name}_max", max(values, default=None), why)
    for name in SAME:
        _put_same(row, name, measured, why)
    return row


def _put_same(row: Row, name: str, measured: Sequence[Measured], why: str) -> None:
    """A number that all seeds share."""
    found = {seed[name] for seed in measured}
    reasons = [split_reasons(seed["reason"]).get(name) for seed in measured]
    text = found.pop() if len(found) == 1 else NOT_AVAILABLE
    value = None if text == NOT_AVAILABLE else float(text)
    if value is not None and name in COUNTS:
        value = int(value)
    row.put(name, value, next(filter(None, reasons), why))
