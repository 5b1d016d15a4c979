"""tables/projections.csv: attention with fewer maps of the features, side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from reattn.attention.metric_files import (
    ALL,
    INITIAL,
    TRAINED,
    MetricRow,
    metrics_path,
    read_attention_metrics,
)
from reattn.config.models import ProjectionsSettings
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.costs.projections import WITHOUT_QUERY, with_matched_width
from reattn.errors import ReattnError
from reattn.tables.cells import Row, is_missing, split_reasons
from reattn.tables.differences import Difference
from reattn.tables.pairing import compared
from reattn.tables.runs import RunRecord
from reattn.tables.statistics import mean

COPIED = (
    *("params", "flops", "wall_time_ms_mean", "n_seeds", "accuracy_mean"),
    *("accuracy_std", "accuracy_ci_low", "accuracy_ci_high"),
)
DIFFERENCES = ("difference", "difference_low", "difference_high", "difference_kind")
METRICS = ("self_mass", "entropy", "distance", "elsewhere", "asymmetry")
STATES = {"": TRAINED, "_initial": INITIAL}
COLUMNS = (
    *("variant", "label", "compared_with", "scores", "values", "matched"),
    *("projections", "position_term", "width"),
    *COPIED,
    *DIFFERENCES,
    *(f"{metric}{suffix}" for suffix in STATES for metric in METRICS),
    *("status", "reason"),
)
_COMPARED = {
    "separate": "Q, K",
    "tied": "Q = K",
    "shared": "Q = K = V",
    "no-key": "Q",
    "no-query": "K",
    "dot": "",
    "cosine": "",
}


def projection_rows(
    study: Study,
    variants: Mapping[str, Variant],
    runs: Sequence[RunRecord],
    models: Sequence[Row],
    results: Path,
) -> list[Row]:
    """One row for every variant of the family `projections`, in table order.

    Args:
        study: The study.
        variants: Its variants by id, its overrides applied.
        runs: Its runs as they stand on disk.
        models: The rows of tables/models.csv.
        results: The study's folder, in which attention has been measured.
    """
    by_name = {row["variant"]: row for row in models}
    rows = []
    for name, variant in variants.items():
        if variant.model.family != "projections":
            continue
        row = _described(study, name, variant)
        for column in COPIED:
            row.put(column, by_name[name][column], by_name[name].reason(column) or "")
        _add_difference(row, variant, variants, runs)
        _add_attention(row, metrics_path(results, name))
        row.put("status", by_name[name]["status"], "")
        rows.append(row)
    return rows


def _described(study: Study, name: str, variant: Variant) -> Row:
    model = variant.model
    built = with_matched_width(model, study.data.image_size // model.patch_size)
    row = Row(variant=name, label=variant.label)
    row.put("compared_with", variant.compared_with, "it is what others compare with")
    row.put("scores", model.scores, "")
    row.put("values", model.values, "")
    row.put("matched", "yes" if model.matched else "no", "")
    row.put("projections", maps_in_words(model), "")
    row.put("position_term", position_term(model), "")
    row.put("width", built.width, "")
    return row


def maps_in_words(model: ProjectionsSettings) -> str:
    """The maps of the features that there are before the output map."""
    maps = [_COMPARED[model.scores], "V" if model.values == "separate" else ""]
    listed = ", ".join(filter(None, maps)) or "none"
    return f"{listed} (V within the output map)" if model.values == "merged" else listed


def position_term(model: ProjectionsSettings) -> str:
    """What the vectors of relative positions are multiplied by."""
    return "one vector a head" if model.scores in WITHOUT_QUERY else "of the query"


def _add_difference(
    row: Row,
    variant: Variant,
    variants: Mapping[str, Variant],
    runs: Sequence[RunRecord],
) -> None:
    other = variant.compared_with
    first = [run for run in runs if run.variant == other]
    second = [run for run in runs if run.variant == row["variant"]]
    found = compared(first, second)
    why = "one of the two has no run with an accuracy"
    if other is None:
        why = "it is what others are compared with"
    elif other not in variants:
        why = f"{other} is not in this study"
    for column, value in zip(DIFFERENCES, _cells(found), strict=True):
        row.put(column, value, found.kind if found else why)


def _cells(found: Difference | None) -> tuple[object, ...]:
    if found is None:
        return (None,) * len(DIFFERENCES)
    return found.value, found.low, found.high, found.kind


def _add_attention(row: Row, path: Path) -> None:
    why, measured = "attention has not been measured yet", []
    if path.exists():
        try:
            measured = read_attention_metrics(path)
        except ReattnError as fault:
            why = str(fault)
    for suffix, state in STATES.items():
        layers = [r for r in measured if (r["state"], r["head"]) == (state, ALL)]
        for metric in METRICS:
            value, reason = _mean_of(layers, metric)
            absent = _why_not(measured, state) if measured else why
            row.put(f"{metric}{suffix}", value, reason or absent)


def _mean_of(layers: Sequence[MetricRow], metric: str) -> tuple[float | None, str]:
    """The mean over seeds and layers, or None and the first reason for n/a."""
    values = [float(row[metric]) for row in layers if not is_missing(row[metric])]
    if values:
        return mean(values), ""
    reasons = [split_reasons(row["reason"]).get(metric, "") for row in layers]
    return None, next(filter(None, reasons), "")


def _why_not(measured: Sequence[MetricRow], state: str) -> str:
    reason = split_reasons(measured[0]["reason"]).get("self_mass")
    return reason or f"no layer has been measured in the {state} state"
