"""What a run costs, from its settings and, once they are prepared, its images."""

from math import ceil
from typing import Any

from reattn.config.runs import Run
from reattn.costs.memory import (
    CPU_BYTES,
    EVALUATION_BATCH,
    estimate_evaluation_memory,
    estimate_training_flops,
    estimate_training_memory,
    largest_micro_batch,
)
from reattn.files import read_json

# Before the data is prepared; of a folder of images nothing is known then.
CLASSES = 10
TRAIN_IMAGES = {"digits": 1_437, "cifar10": 50_000}
ALL_IMAGES = {"digits": 1_797, "cifar10": 60_000}


def epoch_images(run: Run) -> int:
    """Training images an epoch; 0 where the data is not known yet."""
    if run.study.training.epoch_images != "all":
        return run.study.training.epoch_images
    counts = _facts(run).get("counts", {})
    images = counts.get("train") or TRAIN_IMAGES.get(run.study.data.source, 0)
    return max(0, images - run.study.validation.images)


def image_bytes(run: Run) -> int:
    """Bytes of all images of the run's data; 0 where they are not known yet."""
    counts = _facts(run).get("counts", {})
    images = sum(counts.values()) or ALL_IMAGES.get(run.study.data.source, 0)
    return images * 3 * run.study.data.image_size**2


def micro_batch(run: Run, card_bytes: int | None = None) -> int:
    """Images in memory at once; on a GPU the whole batch, where no card is known.

    Args:
        run: The run; its batch is split.
        card_bytes: What a step may take of the card; None where it is not known.
    """
    training, batch = run.study.training, run.budget.batch
    if training.micro_batch != "auto":
        return min(training.micro_batch, batch)
    available = card_bytes if training.device == "gpu" else CPU_BYTES
    if available is None:
        return batch
    size = run.study.data.image_size
    return largest_micro_batch(
        run.variant.model, size, CLASSES, batch, available, training.precision
    )


def step_memory(run: Run, card_bytes: int | None = None) -> int:
    """Bytes that a training step holds at most, on the device that trains.

    Args:
        run: The run.
        card_bytes: What a step may take of the card; None where it is not known.
    """
    return estimate_training_memory(
        run.variant.model,
        run.study.data.image_size,
        CLASSES,
        micro_batch(run, card_bytes),
        run.study.training.precision,
    )


def job_memory(run: Run) -> int:
    """Bytes that a training holds at most on a CPU: in a step, or when it evaluates."""
    size = run.study.data.image_size
    batch = max(EVALUATION_BATCH, run.budget.batch)  # the authors' takes the recipe's
    evaluation = estimate_evaluation_memory(run.variant.model, size, CLASSES, batch)
    return max(step_memory(run), evaluation)


def steps(run: Run) -> int:
    """Optimiser steps of all its epochs; 0 where the data is not known."""
    return ceil(epoch_images(run) / run.budget.batch) * run.budget.last_epoch


def operations(run: Run) -> int:
    """Floating-point operations of all its epochs; 0 where the data is not known."""
    passes = epoch_images(run) * run.budget.last_epoch
    size = run.study.data.image_size
    return passes * estimate_training_flops(run.variant.model, size, CLASSES)


def relative_work(run: Run) -> int:
    """Operations of an image in all its epochs: compares runs before data is known."""
    size = run.study.data.image_size
    image = estimate_training_flops(run.variant.model, size, CLASSES)
    return image * run.budget.last_epoch


def _facts(run: Run) -> dict[str, Any]:
    path = run.data / "data.json"
    return read_json(path) if path.exists() else {}
