"""tables/models.csv: one row a variant, everything measured of it."""

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.tables.cells import Row
from reattn.tables.published import UNKNOWN, Published
from reattn.tables.runs import WORST_LAST, RunRecord
from reattn.tables.statistics import accuracy_interval, mean, standard_deviation

MEASURED = (
    "flops",
    "wall_time_ms_mean",
    "wall_time_ms_std",
    "wall_time_plain_ms_mean",
    "wall_time_plain_ms_std",
    "throughput_img_s",
)
MEASURED_BESIDES = (
    "throughput_plain_img_s",
    "wall_time_ms_median",
    "wall_time_ms_q1",
    "wall_time_ms_q3",
    "wall_time_plain_ms_median",
    "wall_time_plain_ms_q1",
    "wall_time_plain_ms_q3",
    "training_memory_mb",
    "memory_batch",
)
OF_STEPS = ("training_memory_mb", "memory_batch")
DEPTH_ALONE = "measured where models differ in their number of layers alone"
COLUMNS = (
    *("variant", "label", "group", "family", "heads", "hierarchical", "n_seeds"),
    *("accuracy_mean", "accuracy_std", "accuracy_ci_low", "accuracy_ci_high"),
    *("accuracy_authors_mean", "accuracy_best_eval_mean", "params"),
    *MEASURED,
    *("published_accuracy", "published_source", "status", "reason"),
    *("accuracy_ci_kind", "accuracy_authors_std", "seeds_planned"),
    *("published_status", "published_note", "status_reason"),
    *MEASURED_BESIDES,
)
Measurements = Mapping[str, Mapping[str, str]]


def model_rows(
    study: Study,
    variants: Mapping[str, Variant],
    runs: Sequence[RunRecord],
    results: Path,
    published: Mapping[str, Published],
) -> list[Row]:
    """One row a variant, in the order of `variants`."""
    measurements, unmeasured = read_measurements(
        results / "measure" / "measurements.csv"
    )
    rows = []
    for name, variant in variants.items():
        own = [run for run in runs if run.variant == name]
        row = _described(name, variant)
        _add_accuracies(row, own, len(study.seeds))
        _add_measurements(row, own, measurements.get(name, {}), unmeasured)
        _add_published(row, published.get(name, UNKNOWN))
        rows.append(row)
    return rows


def read_measurements(path: Path) -> tuple[Measurements, str]:
    """Measurements by variant, and why one that is not among them is not."""
    if not path.is_file():
        return {}, "not measured yet"
    foreign = f"{path.name} is not a table of measurements; measure again"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (csv.Error, UnicodeError):
        return {}, foreign
    if not rows or "variant" not in rows[0]:
        return {}, foreign
    return {row["variant"]: row for row in rows}, "not among the measured variants"


def _described(name: str, variant: Variant) -> Row:
    model = variant.model
    row = Row(variant=name, label=variant.label, group=variant.group)
    row.put("family", model.family, "")
    row.put("heads", getattr(model, "heads", None), "the family has no heads")
    row.put("hierarchical", is_hierarchical(variant), "")
    return row


def is_hierarchical(variant: Variant) -> bool:
    """Whether a variant uses hierarchical attention."""
    model = variant.model
    return model.family == "ha-san" or getattr(model, "hierarchical", False)


def _add_accuracies(row: Row, runs: Sequence[RunRecord], planned: int) -> None:
    status, why = variant_status(runs, planned)
    counted = _counted(runs)
    row.put("n_seeds", len(counted), "")
    row.put("seeds_planned", planned, "")
    _add_headline(row, counted, why)
    for column, key in (
        ("accuracy_authors_mean", "accuracy_authors"),
        ("accuracy_best_eval_mean", "accuracy_best_eval"),
    ):
        values = _values(counted, key)
        row.put(column, mean(values) if values else None, why or "not evaluated")
    spread = standard_deviation(_values(counted, "accuracy_authors"))
    row.put("accuracy_authors_std", spread, why or "fewer than two seeds")
    row.put("status", status, "")
    row.put("status_reason", why or "every planned run is complete", "")


def _add_headline(row: Row, counted: Sequence[RunRecord], why: str) -> None:
    accuracies = _values(counted, "accuracy")
    absent = why or "the run recorded no accuracy"
    row.put("accuracy_mean", mean(accuracies) if accuracies else None, absent)
    spread = standard_deviation(accuracies)
    few = "fewer than two seeds" if accuracies else absent
    row.put("accuracy_std", spread, few)
    images = counted[0].test_images if counted else None
    interval = accuracy_interval(accuracies, images)
    unknown = "the number of test images is not known" if accuracies else absent
    row.put("accuracy_ci_low", interval and interval.low, unknown)
    row.put("accuracy_ci_high", interval and interval.high, unknown)
    row.put("accuracy_ci_kind", interval and interval.kind, unknown)


def _counted(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs behind the accuracies: those trained here, else imported weights."""
    trained = [run for run in runs if run.counts]
    return trained or [run for run in runs if run.status == "imported"]


def _values(runs: Sequence[RunRecord], key: str) -> list[float]:
    found = [run.metrics.get(key) for run in runs]
    return [float(value) for value in found if value is not None]


def variant_status(runs: Sequence[RunRecord], planned: int) -> tuple[str, str]:
    """A variant's status, and why it is not ok (empty where it is).

    ok: every planned seed is; stale: all have numbers, some by other code than
    today's; partial: some have numbers; imported: none was trained here but weights
    were imported; else the worst of its runs.
    """
    finished = sum(run.counts for run in runs)
    why = "; ".join(
        f"seed {run.seed} {run.status}" + (f" ({run.reason})" if run.reason else "")
        for run in runs
        if run.status != "ok"
    )
    if finished >= planned:
        stale = any(run.status == "stale" for run in runs)
        return ("stale", why) if stale else ("ok", "")
    if finished:
        return f"partial ({finished} of {planned} seeds)", why
    statuses = {run.status for run in runs}
    if "imported" in statuses:
        return "imported", why
    return max(statuses, key=WORST_LAST.index, default="missing"), why


def _add_measurements(
    row: Row, runs: Sequence[RunRecord], measured: Mapping[str, str], unmeasured: str
) -> None:
    why = measured.get("reason") or (
        "the table of measurements has no number there" if measured else unmeasured
    )
    for column in (*MEASURED, *MEASURED_BESIDES):
        left_out = column in OF_STEPS and measured and not measured.get("reason")
        reason = DEPTH_ALONE if left_out else why
        row.put(column, _number(measured.get(column)), reason)
    trained = next((r.metrics["params"] for r in runs if r.metrics.get("params")), None)
    params = _number(measured.get("params")) or trained
    row.put("params", int(params) if params else None, why)
    if row.number("flops") is not None:
        row.put("flops", int(row.number("flops")), why)


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _add_published(row: Row, published: Published) -> None:
    row.put("published_accuracy", published.accuracy, published.reason)
    row.put("published_source", published.source, published.reason)
    row.put("published_status", published.status, "")
    row.put("published_note", published.note, "nothing to add")
