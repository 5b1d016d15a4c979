"""tables/attention.csv: what training changed in each variant's attention."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from reattn.attention.metric_files import (
    ALL,
    INITIAL,
    METRICS,
    TRAINED,
    metrics_path,
    read_attention_metrics,
)
from reattn.config.variants import Variant
from reattn.tables.cells import NOT_AVAILABLE, Row, split_reasons
from reattn.tables.differences import PAIRED, difference
from reattn.tables.statistics import CONFIDENCE, mean

PARTS = ("trained", "initial", "change", "change_low", "change_high")
VALUES = tuple(f"{metric}_{part}" for metric in METRICS for part in PARTS)
COLUMNS = (
    *("variant", "label", "layer", "n_seeds", "images"),
    *VALUES,
    *("interval_kind", "reason"),
)
OVER_SEEDS = PAIRED
OVER_IMAGES = "over images of one run"

FileRow = Mapping[str, str]
Layer = dict[tuple[str, int], FileRow]  # by state and seed


def attention_rows(variants: Mapping[str, Variant], results: Path) -> list[Row]:
    """One row a variant and layer, and one of all layers: means over heads and seeds.

    The change is trained minus initial, of the seeds that have both. Several seeds:
    the paired t interval over them. One seed: the interval from the deviations over
    images, as if the two states had seen different images, which can only be too
    wide where they agree on which images are high; of all layers, as if their
    deviations always went together, which can only be too wide. It says nothing of
    other seeds, and has no width where no image changes the attention.

    Args:
        variants: By id, in table order.
        results: The study's folder.

    Raises:
        ReattnError: a file of metrics is torn or foreign.
    """
    return [
        row
        for variant_id, variant in variants.items()
        for row in _variant_rows(variant_id, variant, results)
    ]


def _variant_rows(variant_id: str, variant: Variant, results: Path) -> list[Row]:
    path = metrics_path(results, variant_id)
    if not path.exists():
        return [_absent(variant_id, variant, "attention is not measured yet")]
    content = read_attention_metrics(path)
    layers: dict[str, Layer] = {}
    for row in content:
        if row["head"] == ALL:
            key = row["state"], int(row["seed"])
            layers.setdefault(row["layer"], {})[key] = row
    if not layers:
        return [_absent(variant_id, variant, _why(content))]
    whole = list(layers.values())
    return [
        *(_row(variant_id, variant, n, [layer]) for n, layer in layers.items()),
        _row(variant_id, variant, ALL, whole),
    ]


def _why(content: Sequence[FileRow]) -> str:
    """The reason that every row without a layer gives for its metrics."""
    reasons = [split_reasons(row["reason"]).get(METRICS[0]) for row in content]
    return "; ".join(dict.fromkeys(filter(None, reasons))) or "not recorded"


def _absent(variant_id: str, variant: Variant, reason: str) -> Row:
    row = Row(variant=variant_id, label=variant.label, layer=ALL, n_seeds=0)
    for column in ("images", *VALUES, "interval_kind"):
        row.put(column, None, reason)
    return row


def _row(
    variant_id: str, variant: Variant, number: str, layers: Sequence[Layer]
) -> Row:
    seeds = [seed for state, seed in layers[0] if state == TRAINED]
    row = Row(variant=variant_id, label=variant.label, layer=number)
    row.put("n_seeds", len(seeds), "")
    row.put("images", next(iter(layers[0].values()))["images"], "")
    for metric in METRICS:
        _add_metric(row, metric, layers)
    both = len({seed for state, seed in layers[0] if state == INITIAL} & {*seeds})
    measured = any(row.number(f"{metric}_change_low") is not None for metric in METRICS)
    kind = OVER_SEEDS if both > 1 else OVER_IMAGES
    row.put("interval_kind", kind if measured else None, "no metric has an interval")
    return row


def _add_metric(row: Row, metric: str, layers: Sequence[Layer]) -> None:
    why = _reason(metric, layers)
    trained, initial = (_means(metric, state, layers) for state in (TRAINED, INITIAL))
    for part, values in (("trained", trained), ("initial", initial)):
        value = mean(list(values.values())) if values else None
        row.put(f"{metric}_{part}", value, why)
        if values and len(values) < int(row["n_seeds"]):
            told = f"of {len(values)} of {row['n_seeds']} runs; the others: {why}"
            row.note(f"{metric}_{part}", told)
    change = difference(initial, trained, paired=True)
    low, high = (change.low, change.high) if change else (None, None)
    if change and change.low is None:
        (seed,) = set(initial) & set(trained)
        low, high = _over_images(change.value, metric, seed, layers)
        why = "one run, and no deviation over images"
    row.put(f"{metric}_change", change and change.value, why)
    row.put(f"{metric}_change_low", low, why)
    row.put(f"{metric}_change_high", high, why)


def _means(metric: str, state: str, layers: Sequence[Layer]) -> dict[int, float]:
    """A metric's mean over layers, by seed; layers without it are left out."""
    seeds = [seed for known, seed in layers[0] if known == state]
    found = {}
    for seed in seeds:
        cells = [
            layer[state, seed][metric] for layer in layers if (state, seed) in layer
        ]
        found[seed] = [float(cell) for cell in cells if cell != NOT_AVAILABLE]
    return {seed: mean(values) for seed, values in found.items() if values}


def _over_images(
    change: float, metric: str, seed: int, layers: Sequence[Layer]
) -> tuple[float | None, float | None]:
    from scipy.stats import norm

    errors = []
    for state in (TRAINED, INITIAL):
        spreads = _means(f"{metric}_std", state, layers)
        if seed not in spreads:
            return None, None
        images = int(layers[0][state, seed]["images"])
        errors.append(spreads[seed] / math.sqrt(images))
    half = float(norm.ppf((1 + CONFIDENCE) / 2)) * sum(errors)
    return change - half, change + half


def _reason(metric: str, layers: Sequence[Layer]) -> str:
    """Why a metric has no value in some row of these layers."""
    for layer in layers:
        for row in layer.values():
            if row[metric] == NOT_AVAILABLE:
                return split_reasons(row["reason"]).get(metric, "not recorded")
    return "no run is measured both trained and before"
