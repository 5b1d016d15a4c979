"""tables/hierarchical.csv: each model beside its hierarchical version (Table 3)."""

from collections.abc import Mapping, Sequence

from reattn.config.variants import Variant
from reattn.tables.cells import Row
from reattn.tables.pairing import compared
from reattn.tables.runs import RunRecord

QUANTITIES = {
    "accuracy": "accuracy_mean",
    "accuracy_authors": "accuracy_authors_mean",
    "params": "params",
    "flops": "flops",
    "wall_time_plain_ms": "wall_time_plain_ms_mean",
    "wall_time_ms": "wall_time_ms_mean",
    "published": "published_accuracy",
}
COUNTS = ("params", "flops")
PARTS = ("ordinary", "hierarchical", "difference", "difference_percent")
INTERVAL = ("low", "high", "kind")
COLUMNS = (
    *("variant", "label", "ordinary", "ordinary_label"),
    *(f"{quantity}_{part}" for quantity in QUANTITIES for part in PARTS),
    *(f"accuracy_difference_{part}" for part in INTERVAL),
    *("status", "ordinary_status", "reason"),
)


def hierarchical_rows(
    variants: Mapping[str, Variant],
    models: Sequence[Row],
    runs: Sequence[RunRecord],
) -> list[Row]:
    """One row for every variant that names its ordinary version.

    Differences are hierarchical minus ordinary; the relative ones are percent of
    the ordinary version's value. That of accuracies has its own interval, see
    `reattn.tables.differences`.
    """
    by_name = {row["variant"]: row for row in models}
    rows = []
    for name, variant in variants.items():
        if variant.ordinary:
            ordinary = by_name.get(variant.ordinary)
            rows.append(_pair(by_name[name], variant.ordinary, ordinary))
            _put_interval(rows[-1], runs)
    return rows


def _put_interval(row: Row, runs: Sequence[RunRecord]) -> None:
    ordinary, changed = (
        [run for run in runs if run.variant == row[name]]
        for name in ("ordinary", "variant")
    )
    found = compared(ordinary, changed)
    for part in INTERVAL:
        why = found.kind if found else row.reason("accuracy_difference") or ""
        value = getattr(found, part) if found else None
        row.put(f"accuracy_difference_{part}", value, why)


def _pair(changed: Row, ordinary_name: str, ordinary: Row | None) -> Row:
    row = Row(variant=changed["variant"], label=changed["label"])
    row.put("ordinary", ordinary_name, "")
    absent = "the ordinary version is not in this study"
    row.put("ordinary_label", ordinary["label"] if ordinary else None, absent)
    for quantity, column in QUANTITIES.items():
        _compare(row, quantity, column, ordinary, changed)
    row.put("status", changed["status"], "")
    row.put("ordinary_status", ordinary["status"] if ordinary else None, absent)
    return row


def _compare(
    row: Row, quantity: str, column: str, ordinary: Row | None, changed: Row
) -> None:
    absent = "the ordinary version is not in this study"
    before = ordinary.number(column) if ordinary else None
    after = changed.number(column)
    before_why = (ordinary.reason(column) if ordinary else absent) or ""
    after_why = changed.reason(column) or ""
    row.put(f"{quantity}_ordinary", _whole(quantity, before), before_why)
    row.put(f"{quantity}_hierarchical", _whole(quantity, after), after_why)
    known = before is not None and after is not None
    why = "; ".join(dict.fromkeys(filter(None, (before_why, after_why))))
    difference = after - before if known else None
    row.put(f"{quantity}_difference", _whole(quantity, difference), why)
    relative = 100 * difference / before if known and before else None
    row.put(f"{quantity}_difference_percent", relative, why or "the ordinary one is 0")


def _whole(quantity: str, value: float | None) -> float | int | None:
    """Counts stay whole numbers; accuracies and times stay decimal."""
    return int(value) if quantity in COUNTS and value is not None else value
