"""tables/depth.csv: the same model with more and with fewer layers."""

from collections.abc import Mapping, Sequence

from reattn.config.depths import GROUP, but_for_layers, layers_of
from reattn.config.variants import Variant
from reattn.tables.cells import Row
from reattn.tables.models import is_hierarchical

TAKEN = (
    *("params", "training_memory_mb", "memory_batch"),
    *("accuracy_mean", "accuracy_ci_low", "accuracy_ci_high"),
)
COLUMNS = (
    *("variant", "label", "layers", "hierarchical", *TAKEN),
    *("n_seeds", "status", "reason"),
)


def depth_rows(variants: Mapping[str, Variant], models: Sequence[Row]) -> list[Row]:
    """One row a variant of the group `depth`, or like one of it but for its depth.

    Args:
        variants: A study's variants by id.
        models: Rows of tables/models.csv.

    Returns:
        Ordinary models before hierarchical ones, each from few to many layers.
    """
    alike = [but_for_layers(v) for v in variants.values() if v.group == GROUP]
    chosen = [name for name, v in variants.items() if but_for_layers(v) in alike]
    chosen.sort(key=lambda name: _place(variants[name]))
    by_name = {row["variant"]: row for row in models}
    return [_row(by_name[name], variants[name]) for name in chosen]


def _place(variant: Variant) -> tuple[bool, int]:
    return is_hierarchical(variant), layers_of(variant) or 0


def _row(model: Row, variant: Variant) -> Row:
    row = Row(variant=model["variant"], label=model["label"])
    row.put("layers", layers_of(variant), "the family has stages, or a fixed depth")
    row.put("hierarchical", is_hierarchical(variant), "")
    for column in TAKEN:
        row.put(column, model[column], model.reason(column) or "")
    row.put("n_seeds", model["n_seeds"], "")
    row.put("status", model["status"], "")
    return row
