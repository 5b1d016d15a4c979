"""tables/hyperparameters.csv and tables/variants.csv: what each variant is."""

from collections.abc import Mapping, Sequence
from typing import Any

from reattn.config.budget import budget_of
from reattn.config.resolution import overrides_of
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.tables.cells import Row
from reattn.tables.runs import RunRecord

MODEL_SETTINGS = {
    "layers": "the family has stages instead, or a fixed depth",
    "stages": "only SAN has stages",
    "heads": "the family has no heads",
    "width": "not a setting of the family",
    "feed_forward": "the family has no feed-forward part",
    "patch_size": "the family reads pixels",
    "attention_dropout": "the family has no dropout",
}
HYPERPARAMETERS = (
    *("variant", "label", "family", *MODEL_SETTINGS),
    *("epochs", "epochs_run", "warmup_epochs", "batch", "micro_batch"),
    *("learning_rate", "momentum", "weight_decay", "label_smoothing"),
    *("augmentation", "recipe_epochs", "recipe_batch", "reason"),
)
VARIANTS = (
    *("id", "label", "group", "file", "settings", "overrides", "source", "reason"),
)


def hyperparameter_rows(
    study: Study, variants: Mapping[str, Variant], runs: Sequence[RunRecord]
) -> list[Row]:
    """One row a variant: architecture and training, as this study sets them."""
    rows = []
    for name, variant in variants.items():
        row = Row(variant=name, label=variant.label, family=variant.model.family)
        for setting, why in MODEL_SETTINGS.items():
            row.put(setting, getattr(variant.model, setting, None), why)
        _add_training(row, study, variant)
        micro_batches = {
            run.metrics["micro_batch"]
            for run in runs
            if run.variant == name and run.metrics.get("micro_batch")
        }
        shown = " and ".join(str(size) for size in sorted(micro_batches))
        row.put("micro_batch", shown, "no run has recorded it")
        rows.append(row)
    return rows


def _add_training(row: Row, study: Study, variant: Variant) -> None:
    recipe = variant.recipe
    budget = budget_of(recipe, study.training)
    row.put("epochs", budget.epochs, "")
    row.put("epochs_run", budget.last_epoch, "")
    row.put("warmup_epochs", budget.warmup_epochs, "")
    row.put("batch", budget.batch, "")
    for setting in ("learning_rate", "momentum", "weight_decay", "label_smoothing"):
        row.put(setting, getattr(recipe, setting), "")
    row.put("augmentation", recipe.augmentation, "")
    row.put("recipe_epochs", recipe.epochs, "")
    row.put("recipe_batch", recipe.batch, "")


def variant_rows(study: Study, variants: Mapping[str, Variant]) -> list[Row]:
    """One row a variant: id, label, file, and the settings that tell it apart."""
    rows = []
    for name, variant in variants.items():
        row = Row(id=name, label=variant.label, group=variant.group)
        row.put("file", f"config/variants/{name}.yaml", "")
        row.put("settings", written(variant.model.model_dump()), "")
        changes = overrides_of(study, name, variant)
        row.put("overrides", written(changes), "the study changes nothing in it")
        row.put("source", variant.source, "")
        rows.append(row)
    return rows


def written(settings: Mapping[str, Any]) -> str:
    """Settings as one line: `key=value, key=value`."""
    return ", ".join(f"{key}={_plain(value)}" for key, value in settings.items())


def _plain(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
