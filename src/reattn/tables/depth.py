"""tables/depth.csv: the same model with more and with fewer layers."""

from collections.abc import Mapping, Sequence

from reattn.config.variants import Variant
from reattn.tables.cells import Row

TAKEN = (
    *("params", "training_memory_mb", "memory_batch"),
    *("accuracy_mean", "accuracy_ci_low", "accuracy_ci_high"),
)
COLUMNS = (
    *("variant", "label", "layers", "hierarchical", *TAKEN),
    *("n_seeds", "status", "reason"),
)
GROUP = "depth"


def depth_rows(variants: Mapping[str, Variant], models: Sequence[Row]) -> list[Row]:
    """One row a variant of the group `depth`, or like one of it but for its depth.

    Args:
        variants: A study's variants by id.
        models: Rows of tables/models.csv.
    """
    alike = {
        _but_for_layers(variant)
        for variant in variants.values()
        if variant.group == GROUP
    }
    by_name = {row["variant"]: row for row in models}
    chosen = [n for n, variant in variants.items() if _but_for_layers(variant) in alike]
    chosen.sort(
        key=lambda n: (variants[n].model.hierarchical, variants[n].model.layers)
    )
    return [_row(by_name[name], variants[name]) for name in chosen]


def _but_for_layers(variant: Variant) -> str:
    return repr(variant.model.model_dump(exclude={"layers"}))


def _row(model: Row, variant: Variant) -> Row:
    row = Row(variant=model["variant"], label=model["label"])
    row.put("layers", variant.model.layers, "")
    row.put("hierarchical", variant.model.hierarchical, "")
    for column in TAKEN:
        row.put(column, model.number(column), model.reason(column) or "")
    row.put("n_seeds", model["n_seeds"], "")
    row.put("status", model["status"], "")
    return row
