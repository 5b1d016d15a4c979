"""tables/audit.csv: what the authors' departures cost, twin by twin."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reattn.config.loading import load_variants
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.tables.agreement import COUNTS, known_agreement
from reattn.tables.cells import NOT_AVAILABLE, Row
from reattn.tables.differences import Difference, difference, mcnemar
from reattn.tables.evaluations import EVALUATIONS
from reattn.tables.evaluations import accuracies as evaluated
from reattn.tables.pairing import accuracies, images_behind, is_paired
from reattn.tables.runs import RunRecord
from reattn.tables.statistics import mean

TESTS = ("only_with_right", "only_without_right", "mcnemar_p")
COLUMNS = (
    *("deviation", "title", "variant", "label", "twin", "twin_label", "n"),
    *("accuracy_with", "accuracy_without", "difference", "low", "high"),
    *("interval_kind", *TESTS, "status", "reason"),
)
SAME_RUN = "the same run, evaluated otherwise"


def audit_rows(
    study: Study,
    variants: Mapping[str, Variant],
    runs: Sequence[RunRecord],
    results: Path,
    ledger: Sequence[Mapping[str, Any]],
) -> list[Row]:
    """One row a departure and model, also of twins that the study does not have.

    Differences are the twin's accuracy minus that of the model as the authors wrote
    it. D3 and D4 compare evaluations of the same runs.

    Args:
        study: The study.
        variants: Its variants by id, in table order.
        runs: All runs.
        results: The study's folder.
        ledger: The content of config/deviations.yaml.
    """
    path = results / "measure" / "agreement.csv"
    agreement = known_agreement(path) if path.exists() else {}
    rows = []
    for entry in ledger:
        for twin in entry.get("twins") or ():
            row = _described(entry, twin, variants)
            _add_twin(row, study, runs, agreement)
            rows.append(row)
        if entry["id"] in EVALUATIONS:
            rows += _evaluation_rows(entry, variants, runs, results)
    return rows


def _described(
    entry: Mapping[str, Any], twin: str, variants: Mapping[str, Variant]
) -> Row:
    known = {**load_variants(), **variants}
    other = known[twin].compared_with
    row = Row(deviation=entry["id"], title=entry["title"], variant=other)
    row.put("label", known[other].label, "")
    row.put("twin", twin, "")
    row.put("twin_label", known[twin].label, "")
    return row


def _add_twin(
    row: Row, study: Study, runs: Sequence[RunRecord], agreement: Mapping
) -> None:
    other, twin = row["variant"], row["twin"]
    own = {name: [r for r in runs if r.variant == name] for name in (other, twin)}
    absent = [name for name, found in own.items() if not found]
    why = f"not in this study: {', '.join(absent)}" if absent else ""
    for name, found in own.items():
        if found and not accuracies(found):
            states = ", ".join(dict.fromkeys(run.status for run in found))
            why = why or f"no run of {name} has an accuracy ({states})"
    first, second = accuracies(own[other]), accuracies(own[twin])
    paired = is_paired(own[other], own[twin])
    images = images_behind([*own[other], *own[twin]])
    found = difference(first, second, paired=paired, test_images=images)
    _put(row, first, second, found, why)
    _add_test(row, study, agreement, why)


def _put(
    row: Row,
    first: Mapping[int, float],
    second: Mapping[int, float],
    found: Difference | None,
    why: str,
) -> None:
    """Fill in both accuracies and their difference."""
    why = why or "the two have no seed in common"
    row.put("n", min(found.first_count, found.second_count) if found else 0, "")
    row.put("accuracy_with", mean([*first.values()]) if first else None, why)
    row.put("accuracy_without", mean([*second.values()]) if second else None, why)
    row.put("difference", found.value if found else None, why)
    no_interval = why if found is None else found.kind
    row.put("low", found.low if found else None, no_interval)
    row.put("high", found.high if found else None, no_interval)
    row.put("interval_kind", found.kind if found else None, why)
    row.put("status", "measured" if found else "not tested", "")


def _add_test(row: Row, study: Study, agreement: Mapping, why: str) -> None:
    """McNemar's test of one run each; several seeds have an interval over seeds."""
    if len(study.seeds) > 1:
        why = why or "several seeds: the interval over seeds counts"
    counts = None
    if not why:
        key = (row["twin"], row["variant"], str(study.seeds[0]))
        cells = agreement.get(key, {})
        counts = [cells.get(name, NOT_AVAILABLE) for name in COUNTS[1:3]]
        if NOT_AVAILABLE in counts:
            counts, why = None, cells.get("reason") or "not compared image by image"
    only_twin, only_other = map(int, counts) if counts else (None, None)
    row.put("only_with_right", only_other, why)
    row.put("only_without_right", only_twin, why)
    row.put("mcnemar_p", mcnemar(only_other, only_twin) if counts else None, why)


def _evaluation_rows(
    entry: Mapping[str, Any],
    variants: Mapping[str, Variant],
    runs: Sequence[RunRecord],
    results: Path,
) -> Iterator[Row]:
    """A row for every model as the authors wrote it."""
    for name, variant in variants.items():
        if variant.compared_with:
            continue
        own = [run for run in runs if run.variant == name]
        first, second = evaluated(entry["id"], own, results)
        row = Row(deviation=entry["id"], title=entry["title"], variant=name)
        row.put("label", variant.label, "")
        for column in ("twin", "twin_label"):
            row.put(column, None, SAME_RUN)
        found = difference(first, second, paired=True)
        states = ", ".join(dict.fromkeys(run.status for run in own))
        _put(row, first, second, found, "" if found else f"no evaluation ({states})")
        for column in TESTS:
            row.put(column, None, SAME_RUN)
        yield row
