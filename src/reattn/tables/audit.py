"""tables/audit.csv: what the authors' deviations cost, twin by twin."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reattn.config.loading import load_variants
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.errors import ConfigError
from reattn.tables.agreement import (
    SEVERAL_SEEDS,
    Agreement,
    agreement_of,
    alone_right,
)
from reattn.tables.audit_cells import BY_AUTHORS, COLUMNS, TESTS, put_difference
from reattn.tables.cells import Row
from reattn.tables.differences import (
    PAIRED,
    WELCH,
    Difference,
    in_common,
    mcnemar,
)
from reattn.tables.evaluations import EVALUATIONS, evaluation_rows
from reattn.tables.pairing import AUTHORS, accuracies, compared, is_paired
from reattn.tables.runs import RunRecord

__all__ = ["COLUMNS", "audit_rows"]


def audit_rows(
    study: Study,
    variants: Mapping[str, Variant],
    runs: Sequence[RunRecord],
    results: Path,
    ledger: Sequence[Mapping[str, Any]],
) -> list[Row]:
    """One row a deviation and model, also of twins that the study does not have.

    Differences are the twin's accuracy minus that of the model as the authors wrote
    it, in points. D3 and D4 compare evaluations of the same runs.

    Args:
        study: The study.
        variants: Its variants by id, in table order.
        runs: All runs.
        results: The study's folder.
        ledger: The content of config/deviations.yaml.

    Raises:
        ConfigError: the ledger names a twin that is none.
        ReattnError: measure/agreement.csv is torn or foreign.
    """
    agreement = agreement_of(results)
    known = {**load_variants(), **variants}
    rows = []
    for entry in ledger:
        for twin in entry.get("twins") or ():
            row = _described(entry, twin, known)
            _price(row, study, runs, agreement)
            rows.append(row)
        if entry["id"] in EVALUATIONS:
            rows += evaluation_rows(entry, variants, runs, results)
    return rows


def _described(
    entry: Mapping[str, Any], twin: str, known: Mapping[str, Variant]
) -> Row:
    other = known[twin].compared_with if twin in known else None
    if other not in known:
        raise ConfigError(
            [
                f"config/deviations.yaml: {entry['id']} names {twin!r}, which is no "
                "twin. Name a variant of config/variants that has `compared_with`."
            ]
        )
    row = Row(deviation=entry["id"], title=entry["title"], variant=other)
    row.put("label", known[other].label, "")
    row.put("twin", twin, "")
    row.put("twin_label", known[twin].label, "")
    return row


def _price(
    row: Row, study: Study, runs: Sequence[RunRecord], agreement: Agreement
) -> None:
    names = (row["variant"], row["twin"])
    with_it, without = ([r for r in runs if r.variant == name] for name in names)
    first, second = accuracies(with_it), accuracies(without)
    if is_paired(with_it, without):
        first, second = in_common(first, second)
    found = compared(with_it, without)
    why = "" if found else _why_not(dict(zip(names, (with_it, without), strict=True)))
    put_difference(row, first, second, found, why)
    _put_authors(row, compared(with_it, without, AUTHORS), why)
    if not why and found.kind in (PAIRED, WELCH):
        why = SEVERAL_SEEDS
    _add_test(row, min(first, default=0), agreement, why)


def _put_authors(row: Row, found: Difference | None, why: str) -> None:
    """The same by the authors' protocol, which evaluation mode cannot ruin."""
    parts = (found.value, found.low, found.high) if found else (None, None, None)
    why = found.kind if found else why or "no evaluation by that protocol"
    for column, value in zip(BY_AUTHORS, parts, strict=True):
        row.put(column, value, why)


def _why_not(runs: Mapping[str, Sequence[RunRecord]]) -> str:
    """Why two variants have no difference."""
    if absent := [name for name, own in runs.items() if not own]:
        return f"not in this study: {', '.join(absent)}"
    bare = [
        f"{name} ({', '.join(dict.fromkeys(run.status for run in own))})"
        for name, own in runs.items()
        if not accuracies(own)
    ]
    return f"no run has an accuracy: {', '.join(bare)}"


def _add_test(row: Row, seed: int, agreement: Agreement, why: str) -> None:
    """McNemar's test of one run each; several seeds have an interval over seeds."""
    counts = None
    if not why:
        key = (row["twin"], row["variant"], str(seed))
        counts, why = alone_right(agreement.get(key, {}))
    p_value = mcnemar(*counts) if counts else None
    for column, value in zip(TESTS, [*(counts or (None, None)), p_value], strict=True):
        row.put(column, value, why)
