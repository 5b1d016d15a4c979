"""Findings about attention, after training and as training changed it."""

import math
from collections.abc import Mapping, Sequence

from reattn.attention.metric_files import read_attention_metrics
from reattn.claims.evidence import Cells, Evidence
from reattn.claims.verdicts import Finding
from reattn.tables.cells import NOT_AVAILABLE, split_reasons
from reattn.tables.statistics import (
    CONFIDENCE,
    mean,
    standard_deviation,
)

OVER_SEEDS = "t over seeds"
OVER_IMAGES = "normal over images of one run"
NO_INTERVAL = "one run, no interval"
STATES = ("trained", "initial")
Measured = tuple[float, float]  # mean over images, variance of that mean


def attention_findings(
    evidence: Evidence, variant: str, metric: str, layers: str
) -> tuple[Finding, Finding]:
    """A measure of some layers after training, and its change by training.

    Several seeds: the t interval over seeds. One: the normal interval over images,
    which says nothing of other seeds.

    Args:
        evidence: The study.
        variant: Whose attention.
        metric: A column of measure/attention/<variant>.csv.
        layers: first, last, last-two, all or last-minus-first.
    """
    rows, reason = _rows(evidence, variant, metric)
    if reason:
        return (Finding(variant, None, reason=reason),) * 2
    by_seed = {
        state: _by_seed([row for row in rows if row["state"] == state], metric, layers)
        for state in STATES
    }
    common = sorted(set(by_seed["trained"]) & set(by_seed["initial"]))
    if not common:
        reason = f"not measured both trained and at initialisation: {variant}"
        return (Finding(variant, None, reason=reason),) * 2
    trained = [by_seed["trained"][seed] for seed in common]
    changes = [_minus(by_seed["trained"][s], by_seed["initial"][s]) for s in common]
    cells = f"measure/attention/{variant}.csv, {metric} of layers {layers}, head all"
    return _finding(variant, trained, cells), _finding(variant, changes, cells)


def _rows(evidence: Evidence, variant: str, metric: str) -> tuple[list[Cells], str]:
    """Rows of whole layers that hold the measure, or why there are none."""
    if variant not in evidence.variants:
        return [], f"not in this study: {variant}"
    path = evidence.results / "measure" / "attention" / f"{variant}.csv"
    if not path.exists():
        return [], f"attention is not measured: {variant}"
    rows = read_attention_metrics(path)
    usable = [r for r in rows if r["head"] == "all" and r[metric] != NOT_AVAILABLE]
    if usable:
        return usable, ""
    reasons = [split_reasons(row["reason"]).get(metric, "") for row in rows]
    told = next(filter(None, reasons), "not measured")
    return [], f"{variant}: {told}"


def _by_seed(rows: Sequence[Cells], metric: str, layers: str) -> Mapping[str, Measured]:
    found: dict[str, dict[int, Measured]] = {}
    for row in rows:
        # Attention that does not depend on the image has no spread over images.
        spread = float(row[f"{metric}_std"]) if _known(row, metric) else math.nan
        variance = spread**2 / max(1, int(row["images"]))
        layer = int(row["layer"])
        found.setdefault(row["seed"], {})[layer] = (float(row[metric]), variance)
    return {seed: _of_layers(by_layer, layers) for seed, by_layer in found.items()}


def _known(row: Cells, metric: str) -> bool:
    return row[f"{metric}_std"] != NOT_AVAILABLE


def _of_layers(by_layer: Mapping[int, Measured], layers: str) -> Measured:
    ordered = [by_layer[layer] for layer in sorted(by_layer)]
    if layers == "last-minus-first":
        return _minus(ordered[-1], ordered[0])
    chosen = {
        "first": ordered[:1],
        "last": ordered[-1:],
        "last-two": ordered[-2:],
        "all": ordered,
    }[layers]
    count = len(chosen)
    # Layers look at the same images: their errors may add up, so none cancels here.
    deviation = sum(math.sqrt(variance) for _, variance in chosen) / count
    return sum(value for value, _ in chosen) / count, deviation**2


def _minus(one: Measured, other: Measured) -> Measured:
    return one[0] - other[0], (math.sqrt(one[1]) + math.sqrt(other[1])) ** 2


def _finding(variant: str, values: Sequence[Measured], cells: str) -> Finding:
    from scipy.stats import norm, t

    centre, count = mean([value for value, _ in values]), len(values)
    level = (1 + CONFIDENCE) / 2
    if count > 1:
        spread = standard_deviation([value for value, _ in values]) or 0.0
        half = float(t.ppf(level, count - 1)) * spread / math.sqrt(count)
        kind = OVER_SEEDS
    else:
        half = float(norm.ppf(level)) * math.sqrt(values[0][1])
        kind = OVER_IMAGES
    if math.isnan(half):
        return Finding(variant, centre, None, None, count, NO_INTERVAL, cells)
    return Finding(variant, centre, centre - half, centre + half, count, kind, cells)
