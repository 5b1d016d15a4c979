"""The files of attention metrics, results/<study>/measure/attention/<variant>.csv.

A row is a seed, state (trained, initial), layer (from 1) and head (from 1, or `all`:
means over the layer's heads). Each metric is a mean over images, with its standard
deviation over them in `<metric>_std`. This module needs no torch.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reattn.errors import ReattnError
from reattn.files import write_rows
from reattn.reasons import NOT_AVAILABLE, join_reasons

# The fraction of attention on oneself; nats; pixels; the fraction at the one fixed
# shift that holds most; the fraction of queries that attend most to another key; the
# antisymmetric fraction of the scores' variance; bits.
METRICS = (
    *("self_mass", "entropy", "distance", "concentration", "elsewhere", "asymmetry"),
    "layer_difference",
)
SHIFT = ("shift_row", "shift_column")
TRAINED, INITIAL = "trained", "initial"
ALL = "all"
KEYS = ("variant", "seed", "state", "layer", "head", "images")
VALUES = (*(column for name in METRICS for column in (name, f"{name}_std")), *SHIFT)
COLUMNS = (*KEYS, *VALUES, "reason")

NO_SOFTMAX = "no softmax"
OF_LAYERS = "a difference of layers, not of heads"
OF_HEADS = "a layer has as many shifts as heads"
ONE_IMAGE = "one image has no spread"

MetricRow = dict[str, str]


def metrics_path(results: Path, variant_id: str) -> Path:
    """The file of a variant's attention metrics in a study's folder."""
    return results / "measure" / "attention" / f"{variant_id}.csv"


def metric_row(
    keys: Mapping[str, Any], values: Mapping[str, float | int | str], why: str = ""
) -> MetricRow:
    """One row, as text, with a reason for whatever is n/a.

    The reason of a metric is also that of its standard deviation.

    Args:
        keys: Of KEYS; what is missing is n/a.
        values: Of VALUES: a number, or why there is none.
        why: The reason of what neither of them has.
    """
    row: MetricRow = {}
    reasons: dict[str, str] = {}
    for column in (*KEYS, *VALUES):
        value = {**keys, **values}.get(column, NOT_AVAILABLE)
        absent = isinstance(value, str) and column in VALUES
        row[column] = NOT_AVAILABLE if absent else _text(value)
        if row[column] == NOT_AVAILABLE:
            given = value if absent and value != NOT_AVAILABLE else why
            if reasons.get(column.removesuffix("_std")) != given:
                reasons[column] = given
    return {**row, "reason": join_reasons(reasons)}


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def write_attention_metrics(path: Path, rows: Sequence[MetricRow]) -> None:
    """Write rows of `metric_row`, whole or not at all."""
    write_rows(path, rows, COLUMNS)


def read_attention_metrics(path: Path) -> list[MetricRow]:
    """Every row of a file of attention metrics, as text.

    Raises:
        ReattnError: the file is missing, torn or not one of ours.
    """
    study = path.parent.parent.parent.name
    remedy = f"Measure again: python -m reattn measure-attention {study} {path.stem}"
    if not path.is_file():
        raise ReattnError(f"{path} is missing. {remedy}")
    try:
        text = path.read_text(encoding="utf-8")
        reader = csv.DictReader(text.splitlines(keepends=True), strict=True)
        rows = list(reader)
    except (OSError, UnicodeError, csv.Error) as fault:
        raise ReattnError(f"{path} cannot be read ({fault}). {remedy}") from None
    whole = all(None not in (*row, *row.values()) for row in rows)
    if set(COLUMNS) - set(reader.fieldnames or ()) or not text.endswith("\n"):
        raise ReattnError(f"{path} has no attention metrics. {remedy}")
    if not rows or not whole or not all(map(_is_sound, rows)):
        raise ReattnError(f"{path} is torn. {remedy}")
    return rows


def _is_sound(row: MetricRow) -> bool:
    """Whether what should be a number is one, or is n/a."""
    counts = [row[key] for key in ("seed", "layer", "images")]
    measured = [row[column] for column in VALUES]
    head = row["head"] if row["head"] != ALL else "1"
    if row["head"] != NOT_AVAILABLE and not all(
        count.isdecimal() for count in (*counts, head)
    ):
        return False
    try:
        numbers = [float(cell) for cell in measured if cell != NOT_AVAILABLE]
    except ValueError:
        return False
    return all(map(math.isfinite, numbers))
