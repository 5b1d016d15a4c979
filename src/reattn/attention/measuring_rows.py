"""From what was measured of a model to rows of a file."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from reattn.attention.measuring_images import Layer, Measured
from reattn.attention.metric_files import (
    ALL,
    METRICS,
    OF_HEADS,
    OF_LAYERS,
    ONE_IMAGE,
    SHIFT,
    MetricRow,
    metric_row,
)

NOT_FINITE = "the scores do not vary, or are not finite, for some image"
Values = dict[str, float | int | str]


def rows_of(measured: Measured, keys: Mapping[str, Any]) -> Iterator[MetricRow]:
    """The rows of a model: each layer's heads, then the means over them.

    Args:
        measured: Of the model.
        keys: variant, seed and state.
    """
    for number, layer in enumerate(measured.layers, 1):
        heads = [*range(1, layer.heads + 1), ALL]
        values = _values(layer, measured)
        for head, row in zip(heads, values, strict=True):
            place = {**keys, "layer": number, "head": head, "images": measured.images}
            yield metric_row(place, row, measured.reason or "")


def _values(layer: Layer, measured: Measured) -> list[Values]:
    """Cells of every head, and of all."""
    rows: list[Values] = [{} for _ in range(layer.heads + 1)]
    if measured.reason:
        return rows
    shares, shifts = layer.at_best_shift()
    for metric in METRICS:
        found = shares if metric == "concentration" else layer.by_image(metric)
        for row, values in zip(rows, _columns(found, layer.heads), strict=True):
            row[metric], row[f"{metric}_std"] = _mean_and_std(values, measured)
    for row, shift in zip(rows, [*shifts.tolist(), [OF_HEADS] * 2], strict=True):
        row.update(zip(SHIFT, shift, strict=True))
    return rows


def _columns(found: Tensor | str, heads: int) -> list[Tensor | str]:
    """Values by image of every head, and of all; or why there are none."""
    if isinstance(found, str):
        return [found] * (heads + 1)
    if found.dim() == 1:
        return [*[OF_LAYERS] * heads, found]
    return [*found.unbind(1), found.mean(1)]


def _mean_and_std(
    values: Tensor | str, measured: Measured
) -> tuple[float | str, float | str]:
    if isinstance(values, str):
        return values, values
    if not values.isfinite().all():
        return NOT_FINITE, NOT_FINITE
    if measured.images == 1:
        return values.mean().item(), ONE_IMAGE
    if measured.independent:
        return values.mean().item(), 0.0
    return values.mean().item(), values.std().item()
