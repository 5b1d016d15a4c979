"""Findings about attention, after training and as training changed it."""

import math
from collections.abc import Sequence

from reattn.attention.metric_files import INITIAL, TRAINED
from reattn.claims.evidence import Evidence
from reattn.claims.layers import FEWEST, Measured, by_seed
from reattn.claims.verdicts import Finding, named_seeds
from reattn.tables.statistics import CONFIDENCE, mean, standard_deviation

OVER_SEEDS = "t over seeds"
OVER_IMAGES = "normal over images of one run"
NO_INTERVAL = "one run, no interval"


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
        layers: As in `reattn.config.predicates.Layers`.
    """
    rows, reason = evidence.attention(variant, metric)
    trained, initial = (by_seed(rows, s, metric, layers) for s in (TRAINED, INITIAL))
    seeds = sorted(set(trained) & set(initial))
    if not seeds:
        reason = reason or _why_none(variant, bool(trained or initial), layers)
        return (Finding(variant, None, reason=reason),) * 2
    cells = (
        f"measure/attention/{variant}.csv, {metric} where head is all: "
        f"layers {layers}, {named_seeds(seeds)}, trained and initial"
    )
    after = [trained[seed] for seed in seeds]
    changes = [trained[seed].minus(initial[seed]) for seed in seeds]
    return _finding(variant, after, cells), _finding(variant, changes, cells)


def _why_none(variant: str, some: bool, layers: str) -> str:
    if some or layers not in FEWEST:
        return f"{variant}: no seed is measured both trained and at initialisation"
    return f"{variant}: fewer than {FEWEST[layers]} layers"


def _finding(variant: str, values: Sequence[Measured], cells: str) -> Finding:
    from scipy.stats import norm, t

    centre, count = mean([each.value for each in values]), len(values)
    level = (1 + CONFIDENCE) / 2
    if count > 1:
        spread = standard_deviation([each.value for each in values]) or 0.0
        half = float(t.ppf(level, count - 1)) * spread / math.sqrt(count)
        kind = OVER_SEEDS
    else:
        half, kind = float(norm.ppf(level)) * values[0].error, OVER_IMAGES
    runs = {variant: count}
    if math.isnan(half):
        return Finding(variant, centre, None, None, runs, NO_INTERVAL, cells)
    return Finding(variant, centre, centre - half, centre + half, runs, kind, cells)
