"""Measures the variants of a configured study."""

import logging

from reattn.config import load_resolved, results_folder
from reattn.config.paths import data_folder
from reattn.config.studies import Study
from reattn.data import open_data
from reattn.errors import ConfigError
from reattn.measure.conditions import Repetitions
from reattn.measure.table import measure_study
from reattn.training.devices import use_device

log = logging.getLogger(__name__)


def measure_configured_study(name: str, only: list[str] | None = None) -> None:
    """Measure a study's variants, or some of them, under its own conditions.

    Args:
        name: The study.
        only: Ids of the variants to measure; None: all.

    Raises:
        ConfigError: the study has no such variant.
        DataError: its data is not prepared.
        DeviceError: its device is not there.
    """
    study, variants = load_resolved(name)
    unknown = [each for each in only or [] if each not in variants]
    if unknown:
        raise ConfigError([f"Study {name} has no variant {each}." for each in unknown])
    measure_study(
        {key: each for key, each in variants.items() if only is None or key in only},
        image_size=study.data.image_size,
        num_classes=len(open_data(data_folder(name)).classes),
        destination=results_folder(name) / "measure",
        device=str(use_device(study.training)),
        threads=study.training.threads,
        precision=study.training.precision,
        repetitions=_repetitions(study),
        progress=log.info,
    )


def _repetitions(study: Study) -> Repetitions:
    return Repetitions(**study.measurement.model_dump())
