"""Measures the variants of a configured study."""

import logging

import torch

from reattn.config import load_resolved, results_folder
from reattn.config.paths import data_folder
from reattn.config.runs import runs_of
from reattn.config.studies import Study
from reattn.data import open_data
from reattn.measure.conditions import Repetitions
from reattn.measure.table import measure_study
from reattn.measure.training_memory import depths
from reattn.training.devices import use_device
from reattn.training.memory import micro_batch_for

log = logging.getLogger(__name__)


def measure_configured_study(name: str) -> None:
    """Measure all variants of a study, under its own conditions, in one go.

    Raises:
        DataError: its data is not prepared.
        DeviceError: its device is not there.
    """
    study, variants = load_resolved(name)
    device = use_device(study.training)
    classes = len(open_data(data_folder(name)).classes)
    # A user's inference runs without this mode, which slows some operations.
    torch.use_deterministic_algorithms(False)
    measure_study(
        variants,
        image_size=study.data.image_size,
        num_classes=classes,
        destination=results_folder(name) / "measure",
        device=str(device),
        threads=study.training.threads,
        precision=study.training.precision,
        repetitions=_repetitions(study),
        micro_batches=_micro_batches(name, classes, device),
        progress=log.info,
    )


def _micro_batches(name: str, classes: int, device: torch.device) -> dict[str, int]:
    """Of the variants that differ in depth: the images that their trainings hold."""
    runs = {run.variant_id: run for run in runs_of(name)}
    found = {}
    for variant in depths({name: run.variant for name, run in runs.items()}):
        size = runs[variant].study.data.image_size
        found[variant] = micro_batch_for(runs[variant], (size, size), classes, device)
    return found


def _repetitions(study: Study) -> Repetitions:
    return Repetitions(**study.measurement.model_dump())
