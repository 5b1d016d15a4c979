"""Makes every table of a study from its runs and measurements."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.tables.agreement import agreement_of
from reattn.tables.attention import COLUMNS as ATTENTION
from reattn.tables.attention import attention_rows
from reattn.tables.audit import COLUMNS as AUDIT
from reattn.tables.audit import audit_rows
from reattn.tables.cells import Row, write_table
from reattn.tables.comparisons import COLUMNS as COMPARISONS
from reattn.tables.comparisons import comparison_rows
from reattn.tables.constructed import COLUMNS as CONSTRUCTED
from reattn.tables.constructed import constructed_rows
from reattn.tables.depth import COLUMNS as DEPTH
from reattn.tables.depth import depth_rows
from reattn.tables.hierarchical import COLUMNS as HIERARCHICAL
from reattn.tables.hierarchical import hierarchical_rows
from reattn.tables.ledger import read_ledger
from reattn.tables.models import COLUMNS as MODELS
from reattn.tables.models import model_rows
from reattn.tables.projections import COLUMNS as PROJECTIONS
from reattn.tables.projections import projection_rows
from reattn.tables.published import published_accuracies, read_published
from reattn.tables.runs import RunRecord, read_runs
from reattn.tables.settings import (
    HYPERPARAMETERS,
    VARIANTS,
    hyperparameter_rows,
    variant_rows,
)

RECORDED = (
    *("accuracy", "accuracy_authors", "accuracy_best_eval", "validation_accuracy"),
    *("epochs_run", "image_passes", "train_seconds", "images_per_second", "params"),
    *("device", "threads", "precision", "batch", "micro_batch"),
    *("batch_normalisation_note", "commit", "code_hash", "fingerprint"),
    *("data_checksum", "data_source", "data_note", "wandb_run", "evaluation_images"),
)
RUNS = (
    *("variant", "seed", "status", "status_reason"),
    *RECORDED,
    *("test_images", "reason"),
)


def make_tables(
    study: Study,
    variants: Mapping[str, Variant],
    results: Path,
    published: Path | None = None,
    deviations: Path | None = None,
    *,
    check_code: bool = True,
) -> None:
    """Write every table of `reattn.config.paths.EVIDENCE` as CSV.

    A run that is missing, failed or diverged is a row with n/a and its reason;
    it never stops the tables.

    Args:
        study: The study.
        variants: Its variants by id, its overrides applied, in table order.
        results: The study's folder; tables go to `results/tables`.
        published: The published numbers; None: config/published.yaml.
        deviations: The ledger of deviations; None: config/deviations.yaml.
        check_code: Whether runs that other code than today's trained are stale.

    Raises:
        ReattnError: a file of config or of measurements is missing or broken.
    """
    accuracies = published_accuracies(read_published(published))
    runs = read_runs(study, variants, results, check_code=check_code)
    models = model_rows(study, variants, runs, results, accuracies)
    pairs = hierarchical_rows(variants, models, runs, agreement_of(results))
    ledger = read_ledger(deviations)
    settings = hyperparameter_rows(study, variants, runs)
    tables = {
        "models": (models, MODELS),
        "runs": ([_run_row(run) for run in runs], RUNS),
        "hyperparameters": (settings, HYPERPARAMETERS),
        "hierarchical": (pairs, HIERARCHICAL),
        "variants": (variant_rows(study, variants), VARIANTS),
        "attention": (attention_rows(variants, results), ATTENTION),
        "audit": (audit_rows(study, variants, runs, results, ledger), AUDIT),
        "comparisons": (comparison_rows(variants, models, runs), COMPARISONS),
        "depth": (depth_rows(variants, models), DEPTH),
        "projections": (
            projection_rows(study, variants, runs, models, results),
            PROJECTIONS,
        ),
        "constructed": (constructed_rows(results), CONSTRUCTED),
    }
    for name, (rows, columns) in tables.items():
        _write(results / "tables" / f"{name}.csv", rows, columns)


def _write(path: Path, rows: Sequence[Row], columns: Sequence[str]) -> None:
    write_table(path, [row.as_dict() for row in rows], columns)


def _run_row(run: RunRecord) -> Row:
    row = Row(variant=run.variant, seed=run.seed, status=run.status)
    row.put("status_reason", run.reason or "the run is complete", "")
    why = run.reason or "not recorded"
    for key in RECORDED:
        row.put(key, run.metrics.get(key), _own_reason(run, key) or why)
    row.put("test_images", run.test_images, why)
    return row


def _own_reason(run: RunRecord, key: str) -> str | None:
    """Why a run that went well has no such value."""
    if key == "validation_accuracy":
        return run.metrics.get("validation_reason")
    if key == "batch_normalisation_note" and run.metrics:
        return "nothing to note"
    if key == "wandb_run" and run.metrics:
        return "not tracked"
    if key == "data_note" and run.metrics:
        return "nothing to note"
    return None
