"""tables/comparisons.csv: the comparisons that the report makes, and own variants'."""

from collections.abc import Iterator, Mapping, Sequence

from reattn.config.variants import Variant
from reattn.tables.cells import Row
from reattn.tables.pairing import accuracies, compared
from reattn.tables.runs import RunRecord

# Of the report's sections 4.1 and 4.2, the one that is asked about first.
REPORTED = (
    ("learned2d-9h-content", "learned2d-9h-nocontent"),
    ("learned2d-9h-nocontent", "quadratic-9h-anisotropic"),
    ("quadratic-9h-anisotropic", "quadratic-9h-isotropic"),
    ("resnet18", "quadratic-9h-anisotropic"),
    ("learned2d-16h-content", "learned2d-9h-content"),
    ("learned2d-16h-nocontent", "learned2d-9h-nocontent"),
    ("quadratic-16h-anisotropic", "quadratic-9h-anisotropic"),
)
INTERVAL = ("low", "high", "kind")
COLUMNS = (
    *("variant", "label", "group", "other", "other_label"),
    *("accuracy", "other_accuracy", "n", "other_n", "difference", *INTERVAL, "reason"),
)


def comparison_rows(
    variants: Mapping[str, Variant], models: Sequence[Row], runs: Sequence[RunRecord]
) -> list[Row]:
    """One row a comparison whose two models are in the study.

    Args:
        variants: A study's variants by id.
        models: Rows of tables/models.csv.
        runs: All runs of the study.

    Returns:
        The report's comparisons, then each own variant with the one that its file
        names under `compared_with`. A difference is the variant's accuracy minus the
        other's, in points, with the interval of `reattn.tables.differences`.
    """
    by_name = {row["variant"]: row for row in models}
    return [
        _row(by_name[name], by_name[other], variants[name].group, runs)
        for name, other in _asked(variants)
        if name in by_name and other in by_name
    ]


def _asked(variants: Mapping[str, Variant]) -> Iterator[tuple[str, str]]:
    yield from REPORTED
    for name, variant in variants.items():
        if variant.group == "own" and variant.compared_with:
            yield name, variant.compared_with


def _row(model: Row, other: Row, group: str, runs: Sequence[RunRecord]) -> Row:
    row = Row(variant=model["variant"], label=model["label"], group=group)
    row.put("other", other["variant"], "")
    row.put("other_label", other["label"], "")
    for prefix, cells in (("", model), ("other_", other)):
        why = cells.reason("accuracy_mean") or ""
        row.put(f"{prefix}accuracy", cells["accuracy_mean"], why)
    first, second = (
        [run for run in runs if run.variant == cells["variant"]]
        for cells in (other, model)
    )
    row.put("n", len(accuracies(second)), "")
    row.put("other_n", len(accuracies(first)), "")
    found = compared(first, second)
    why = row.reason("accuracy") or row.reason("other_accuracy") or ""
    row.put("difference", found.value if found else None, why)
    for part in INTERVAL:
        value = getattr(found, part) if found else None
        row.put(part, value, found.kind if found else why)
    return row
