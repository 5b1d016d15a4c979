"""Measures the attention of a study's variants, trained and at initialisation."""

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from torch import nn

from reattn.attention.beginnings import why_no_start
from reattn.attention.looking import Looker, has_attention
from reattn.attention.measuring_images import Measured, measure_images
from reattn.attention.measuring_rows import rows_of
from reattn.attention.metric_files import (
    INITIAL,
    TRAINED,
    MetricRow,
    metric_row,
    metrics_path,
    read_attention_metrics,
    write_attention_metrics,
)
from reattn.attention.study import USABLE, require_finite, run_status, runs_of_variant
from reattn.config import results_folder
from reattn.config.runs import Run
from reattn.data import Dataset, open_data
from reattn.data.fit import require_fit
from reattn.models.build import build_model
from reattn.training.fresh import fresh_model
from reattn.training.weights import load_weights

Make = Callable[[Run, tuple[int, int], int], nn.Module]

log = logging.getLogger(__name__)

NOT_KEPT = "the weights of this run are not kept here"


def measure_attention(study: str, variant_id: str) -> Path:
    """Write the attention metrics of a variant: every run, trained and before.

    Takes the runs that ended well, and the study's first test images. A run that is
    kept without weights keeps the rows that the file has of it.

    Args:
        study: The study.
        variant_id: One of its variants.

    Returns:
        results/<study>/measure/attention/<variant>.csv.

    Raises:
        ConfigError: the study has no such variant.
        CheckpointError: a run's weights cannot be read.
        DataError: weights are there, but the data is not prepared.
        ReattnError: a run's status.json, or the file of metrics, is torn or foreign.
    """
    path = metrics_path(results_folder(study), variant_id)
    runs = runs_of_variant(study, variant_id)
    images = _Images(runs[0])
    if not images.has_attention:
        reason = f"{runs[0].variant.label} has no attention: it is convolutional"
        write_attention_metrics(path, [metric_row({"variant": variant_id}, {}, reason)])
        return path
    earlier = read_attention_metrics(path) if path.exists() else []
    rows = [row for run in runs for row in _rows(run, images, earlier)]
    # Also where nothing is new: a file that is older than its runs would be made again.
    write_attention_metrics(path, rows)
    return path


class _Images:
    """The images of a study, opened when a run is there to look at them.

    Attributes:
        has_attention: Whether the variant has any to measure.
    """

    def __init__(self, run: Run):
        size = run.study.data.image_size
        model = build_model(run.variant, image_size=size, num_classes=2)
        self.has_attention = has_attention(model)
        self._run, self._size = run, (size, size)

    @cached_property
    def _dataset(self) -> Dataset:
        dataset = open_data(self._run.data)
        require_fit(self._run.study_name, self._run.study, dataset)
        return dataset

    def measure(self, run: Run, make: Make) -> Measured:
        """The metrics of a run's model over the first test images."""
        dataset = self._dataset
        model = make(run, self._size, len(dataset.classes))
        require_finite(run, model)
        images = dataset.test_images[: run.study.attention.metric_images]
        look = Looker(model, dataset.mean, dataset.std, run.seed)
        return measure_images(look, np.array(images))

    def why_no_start(self, run: Run) -> str | None:
        """Why a run's initial weights cannot be had; None where they can."""
        return why_no_start(run, self._size, len(self._dataset.classes))


def _rows(
    run: Run, images: _Images, earlier: Sequence[MetricRow]
) -> Iterator[MetricRow]:
    status = run_status(run)
    if status not in USABLE:
        yield _absent(run, f"the run did not end well: {status}")
    elif (run.folder / "model.pt").exists():
        yield from _measured(run, images)
    else:
        kept = [row for row in earlier if row["seed"] == str(run.seed)]
        yield from kept or [_absent(run, NOT_KEPT)]


def _measured(run: Run, images: _Images) -> Iterator[MetricRow]:
    log.info("Measuring the attention of %s.", run.name)
    keys = {"variant": run.variant_id, "seed": run.seed}
    trained = images.measure(run, load_weights)
    yield from rows_of(trained, {**keys, "state": TRAINED})
    if reason := images.why_no_start(run):
        yield metric_row({**keys, "state": INITIAL}, {}, reason)
        return
    initial = images.measure(run, fresh_model)
    yield from rows_of(initial, {**keys, "state": INITIAL})


def _absent(run: Run, reason: str) -> MetricRow:
    return metric_row({"variant": run.variant_id, "seed": run.seed}, {}, reason)
