"""Files of a run, read so that none of them can stop the tables."""

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reattn.errors import ReattnError
from reattn.files import read_json

PERCENTAGES = (
    *("accuracy", "accuracy_authors", "accuracy_best_eval", "validation_accuracy"),
)
QUANTITIES = (
    *("test_images", "epochs_run", "image_passes", "train_seconds"),
    *("images_per_second", "params", "threads", "batch", "micro_batch"),
)
_LARGEST = 1e18  # no quantity of a run comes near
UNREADABLE = (
    *(OSError, ValueError, TypeError, KeyError, EOFError),
    *(zipfile.BadZipFile, zlib.error),
)


def read_object(path: Path) -> tuple[dict[str, Any], str | None]:
    """A JSON object, or {} and why there is none."""
    if not path.parent.is_dir():
        return {}, "the run has not been made"
    if not path.is_file():
        return {}, f"the run left no {path.name}"
    try:
        content = read_json(path)
    except ReattnError:
        return {}, f"{path.name} cannot be read as JSON"
    if not isinstance(content, dict) or not content:
        return {}, f"{path.name} holds nothing that can be used"
    return content, None


def read_metrics(path: Path) -> tuple[dict[str, Any], str | None]:
    """The content of metrics.json, or {} and why nothing of it can be used."""
    metrics, fault = read_object(path)
    for key in (*PERCENTAGES, *QUANTITIES):
        value = metrics.get(key)
        most = 100 if key in PERCENTAGES else _LARGEST
        if value is not None and not _is_number(value, most):
            return {}, f"{path.name} holds {value!r} as {key}; train the run again"
    return metrics, fault


def _is_number(value: Any, most: float = _LARGEST) -> bool:
    """Whether a number from 0 to `most`; NaN and True are none."""
    return type(value) in (int, float) and 0 <= value <= most


def count_test_images(
    metrics: Mapping[str, Any], folder: Path, results: Path
) -> int | None:
    """Images behind a run's accuracy, or None where no file tells."""
    if metrics.get("test_images"):
        return int(metrics["test_images"])
    counts = read_object(results / "data" / "data.json")[0].get("counts")
    count = counts.get("test") if isinstance(counts, dict) else None
    if count and _is_number(count):
        return int(count)
    return _predicted_images(folder / "predictions.npz")


def _predicted_images(path: Path) -> int | None:
    import numpy

    try:
        with numpy.load(path, allow_pickle=False) as arrays:
            return len(arrays["label"]) or None
    except UNREADABLE:
        return None
