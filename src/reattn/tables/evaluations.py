"""What other ways to evaluate the same runs would have found (D3, D4)."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from reattn.tables.runs import RunRecord

Evaluation = tuple[float, float]  # training mode, evaluation mode
Pair = tuple[float, float]


def _training_mode(evaluations: Sequence[Evaluation]) -> Pair:
    """D3: the last evaluation in training mode, and in evaluation mode."""
    return evaluations[-1]


def _best(evaluations: Sequence[Evaluation]) -> Pair:
    """D4: the best evaluation, and the last; both in evaluation mode."""
    return max(found for _, found in evaluations), evaluations[-1][1]


EVALUATIONS: dict[str, Callable[[Sequence[Evaluation]], Pair]] = {
    "D3": _training_mode,
    "D4": _best,
}


def accuracies(
    deviation: str, runs: Sequence[RunRecord], results: Path
) -> tuple[dict[int, float], dict[int, float]]:
    """Accuracies with a departure and without it, by seed, in percent.

    Args:
        deviation: D3 or D4.
        runs: Of one variant.
        results: The study's folder.
    """
    found = {}
    for run in runs:
        path = results / "runs" / run.variant / f"seed{run.seed}" / "history.csv"
        if run.counts and (evaluations := _evaluations(path)):
            found[run.seed] = EVALUATIONS[deviation](evaluations)
    return (
        {seed: pair[0] for seed, pair in found.items()},
        {seed: pair[1] for seed, pair in found.items()},
    )


def _evaluations(path: Path) -> list[Evaluation]:
    """Every evaluated epoch of history.csv; none where it cannot be read."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return [
            (float(row["test_accuracy_authors"]), float(row["test_accuracy_eval"]))
            for row in rows
            if row.get("test_accuracy_authors") and row.get("test_accuracy_eval")
        ]
    except (OSError, UnicodeError, csv.Error, ValueError):
        return []
