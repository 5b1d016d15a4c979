"""The image sets of a run: training, validation, evaluation and test."""

from dataclasses import dataclass

import numpy as np
import torch

from reattn.config.runs import Run
from reattn.data.dataset import Dataset, open_data
from reattn.data.facts import REMEDY
from reattn.data.fit import require_fit
from reattn.errors import DataError
from reattn.training.batches import Images
from reattn.training.randomness import derived_seed

SPLIT_SEED = 0  # one split for all runs of a study, whatever their seeds


@dataclass(frozen=True)
class Sets:
    """Images on the device that trains.

    Attributes:
        train: What the weights learn from.
        validation: Held out of the training images, or None.
        evaluation: The test images that the evaluations on the way take.
        test: All test images.
        dataset: The prepared data that they come from.
    """

    train: Images
    validation: Images | None
    evaluation: Images
    test: Images
    dataset: Dataset


def open_sets(run: Run, device: torch.device) -> Sets:
    """Open a run's prepared data and put it on the device.

    Raises:
        DataError: the data is not prepared or not sound.
        ConfigError: the study asks for more images than there are.
    """
    dataset = open_data(run.data, verify_images=True)
    _require_labels(run, dataset)
    require_fit(run.study_name, run.study, dataset)
    held_out = run.study.validation.images
    kept, validation = _split(len(dataset.train_labels), held_out)
    test = _on_device(dataset, dataset.test_images, dataset.test_labels, device)
    train = (dataset.train_images, dataset.train_labels)
    return Sets(
        train=_on_device(dataset, *(part[kept] for part in train), device),
        validation=_on_device(dataset, *(part[validation] for part in train), device)
        if held_out
        else None,
        evaluation=_evaluation_part(test, run.study.training.evaluation_images),
        test=test,
        dataset=dataset,
    )


def _require_labels(run: Run, dataset: Dataset) -> None:
    """Refuse a label that names no class: on a card it would end the whole process."""
    for labels in (dataset.train_labels, dataset.test_labels):
        if labels.min() < 0 or labels.max() >= len(dataset.classes):
            raise DataError(
                f"{run.data} holds labels from {labels.min()} to {labels.max()} of "
                f"{len(dataset.classes)} classes. {REMEDY}"
            )


def _on_device(
    dataset: Dataset, pixels: np.ndarray, labels: np.ndarray, device: torch.device
) -> Images:
    return Images(
        pixels=torch.from_numpy(np.array(pixels)).to(device),
        labels=torch.from_numpy(np.array(labels)).to(device),
        mean=dataset.mean,
        std=dataset.std,
    )


def _split(images: int, held_out: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.arange(images)
    if held_out:
        seed = derived_seed(SPLIT_SEED, "validation")
        order = np.random.default_rng(seed).permutation(images)
    return np.sort(order[held_out:]), np.sort(order[:held_out])


def _evaluation_part(test: Images, count: int | str) -> Images:
    if count == "all":
        return test
    seed = derived_seed(SPLIT_SEED, "evaluation")
    chosen = np.sort(np.random.default_rng(seed).permutation(len(test))[:count])
    pixels, labels = test.select(chosen)
    return Images(pixels=pixels, labels=labels, mean=test.mean, std=test.std)
