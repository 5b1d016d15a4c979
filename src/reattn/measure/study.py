"""Measures the variants of a configured study."""

import logging
from collections.abc import Mapping

import torch

from reattn.config import load_resolved, results_folder
from reattn.config.budget import budget_of
from reattn.config.paths import data_folder
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.data import open_data
from reattn.measure.conditions import Repetitions
from reattn.measure.table import measure_study
from reattn.measure.training_memory import depths, step_batch
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
        step_batches=_step_batches(study, variants),
        progress=log.info,
    )


def _step_batches(study: Study, variants: Mapping[str, Variant]) -> dict[str, int]:
    """Of the variants that differ in depth: what a step of theirs holds at once."""
    size, training = study.data.image_size, study.training
    return {
        name: step_batch(
            variants[name].model,
            budget_of(variants[name].recipe, training).batch,
            training,
            size,
        )
        for name in depths(variants)
    }


def _repetitions(study: Study) -> Repetitions:
    return Repetitions(**study.measurement.model_dump())
