"""Measures the variants of a configured study."""

import logging

import torch

from reattn.config import load_resolved, results_folder
from reattn.config.paths import data_folder
from reattn.config.studies import Study
from reattn.data import open_data
from reattn.measure.conditions import Repetitions
from reattn.measure.table import measure_study
from reattn.training.devices import use_device

log = logging.getLogger(__name__)


def measure_configured_study(name: str) -> None:
    """Measure all variants of a study, under its own conditions, in one go.

    Raises:
        DataError: its data is not prepared.
        DeviceError: its device is not there.
    """
    study, variants = load_resolved(name)
    device = use_device(study.training)
    # A user's inference runs without this mode, which slows some operations.
    torch.use_deterministic_algorithms(False)
    measure_study(
        variants,
        image_size=study.data.image_size,
        num_classes=len(open_data(data_folder(name)).classes),
        destination=results_folder(name) / "measure",
        device=str(device),
        threads=study.training.threads,
        precision=study.training.precision,
        repetitions=_repetitions(study),
        progress=log.info,
    )


def _repetitions(study: Study) -> Repetitions:
    return Repetitions(**study.measurement.model_dump())
