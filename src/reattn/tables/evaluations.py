"""What other ways to evaluate the same runs would have found (D3, D4)."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reattn.config.variants import Variant
from reattn.tables.audit_cells import BY_AUTHORS, TESTS, put_difference
from reattn.tables.cells import Row
from reattn.tables.differences import Difference, difference
from reattn.tables.runs import RunRecord
from reattn.tables.statistics import mean

ALL = "all"
SAME_RUN = "the same run, evaluated otherwise"
OVER_MODELS = "mean over models, which are not drawn by chance: no interval"

Pair = tuple[float, float]
Evaluation = tuple[float | None, float]  # in training mode, in evaluation mode
BySeed = dict[int, float]


def _training_mode(evaluations: Sequence[Evaluation]) -> Pair | None:
    """D3: the last evaluation in training mode, and in evaluation mode."""
    authors, own = evaluations[-1]
    return None if authors is None else (authors, own)


def _best(evaluations: Sequence[Evaluation]) -> Pair:
    """D4: the best evaluation, and the last; both in evaluation mode."""
    return max(own for _, own in evaluations), evaluations[-1][1]


EVALUATIONS: dict[str, Callable[[Sequence[Evaluation]], Pair | None]] = {
    "D3": _training_mode,
    "D4": _best,
}


def evaluation_rows(
    entry: Mapping[str, Any],
    variants: Mapping[str, Variant],
    runs: Sequence[RunRecord],
    results: Path,
) -> Iterator[Row]:
    """A row for each model of the report, and one of all of them.

    That of all is the mean over the models that have a difference. D3 also takes the
    authors' mean over batches (D17); both are of the evaluation images.

    Args:
        entry: Of the ledger: D3 or D4.
        variants: The study's variants by id, in table order.
        runs: All runs.
        results: The study's folder.
    """
    sides: tuple[list[float], list[float]] = ([], [])
    models = [name for name, each in variants.items() if each.group == "report"]
    for name in models:
        own = [run for run in runs if run.variant == name]
        first, second = _accuracies(entry["id"], own, results)
        found = difference(first, second, paired=True)
        states = ", ".join(dict.fromkeys(run.status for run in own))
        why = "" if found else f"no evaluation ({states})"
        yield _row(entry, name, variants[name].label, (first, second), found, why)
        if found:
            for side, values in zip(sides, (first, second), strict=True):
                side.append(mean([*values.values()]))
    if models:
        yield _row_of_all(entry, *(dict(enumerate(side)) for side in sides))


def _row_of_all(entry: Mapping[str, Any], first: BySeed, second: BySeed) -> Row:
    if len(first) < 2:
        why = "fewer than two models have such evaluations"
        return _row(entry, ALL, "all models", ({}, {}), None, why)
    found = difference(first, second, paired=True)
    found = replace(found, low=None, high=None, kind=OVER_MODELS)
    return _row(entry, ALL, "all models", (first, second), found, "")


def _row(
    entry: Mapping[str, Any],
    name: str,
    label: str,
    sides: tuple[BySeed, BySeed],
    found: Difference | None,
    why: str,
) -> Row:
    row = Row(deviation=entry["id"], title=entry["title"], variant=name, label=label)
    for column in ("twin", "twin_label"):
        row.put(column, None, SAME_RUN)
    put_difference(row, *sides, found, why)
    for column in (*TESTS, *BY_AUTHORS):
        row.put(column, None, SAME_RUN)
    return row


def _accuracies(
    deviation: str, runs: Sequence[RunRecord], results: Path
) -> tuple[BySeed, BySeed]:
    """Accuracies with a deviation and without it, by seed, in percent."""
    found = {}
    for run in runs:
        path = results / "runs" / run.variant / f"seed{run.seed}" / "history.csv"
        evaluations = _evaluations(path) if run.counts else []
        if evaluations and (pair := EVALUATIONS[deviation](evaluations)):
            found[run.seed] = pair
    with_it = {seed: pair[0] for seed, pair in found.items()}
    return with_it, {seed: pair[1] for seed, pair in found.items()}


def _evaluations(path: Path) -> list[Evaluation]:
    """Every evaluated epoch of history.csv; none where it cannot be read."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [
                (_percent(row.get("test_accuracy_authors")), float(own))
                for row in csv.DictReader(file)
                if (own := row.get("test_accuracy_eval"))
            ]
    except (OSError, UnicodeError, csv.Error, ValueError):
        return []


def _percent(text: str | None) -> float | None:
    return float(text) if text else None
