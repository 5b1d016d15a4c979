"""The content of metrics.json: plain numbers, and where they come from."""

from typing import Any

import numpy as np

from reattn.config.runs import Run
from reattn.training.history import Epoch, best
from reattn.training.sets import Sets
from reattn.training.state import TrainingState

BATCH_NORMALISATION_NOTE = (
    "batch normalisation took its statistics from micro-batches, not from the "
    "recipe's batch"
)


def metrics_of(
    run: Run, status: str, state: TrainingState, sets: Sets, outputs: np.ndarray | None
) -> dict[str, Any]:
    """The metrics of a run that had a model.

    Args:
        run: The run.
        status: How it ended.
        state: Where it ended.
        sets: Its images.
        outputs: Log-probabilities of the test images; None without an end.
    """
    labels = sets.test.labels.cpu().numpy()
    return {
        **_identity(run, status),
        **_accuracies(run, state.history, outputs, labels),
        **_effort(run, state, sets),
        "initial_weights": state.initial_weights,
        **_settings(run),
        **_provenance(state),
        "data_checksum": sets.dataset.info["checksum"],
        "data_source": sets.dataset.info["source"],
    }


def metrics_without_model(
    run: Run, status: str, origin: dict[str, Any]
) -> dict[str, Any]:
    """The metrics of a run that ended before it had a model; unknown ones are None.

    Args:
        run: The run.
        status: How it ended.
        origin: Where it was tried.
    """
    nothing = dict.fromkeys(
        (
            *("accuracy", "test_images", "accuracy_authors", "accuracy_best_eval"),
            *("validation_accuracy", "params", "image_passes", "train_seconds"),
            *("images_per_second", "micro_batch", "batch_normalisation_note"),
            *("data_checksum", "initial_weights"),
        )
    )
    return {
        **_identity(run, status),
        **nothing,
        **_settings(run),
        **origin,
        "epochs_run": 0,
        "sessions": [],
        "data_source": run.study.data.source,
    }


def _identity(run: Run, status: str) -> dict[str, Any]:
    return {
        "study": run.study_name,
        "variant": run.variant_id,
        "label": run.variant.label,
        "seed": run.seed,
        "status": status,
        "reduced": run.study.reduced,
        "overrides": run.overrides,
        "fingerprint": run.fingerprint,
        "settings": run.settings,
    }


def _settings(run: Run) -> dict[str, Any]:
    """What the study asked for, as it stands beside the numbers."""
    return {
        "evaluation_images": run.study.training.evaluation_images,
        "validation_reason": run.study.validation.reason,
        "epochs_planned": run.budget.last_epoch,
        "batch": run.budget.batch,
        "precision": run.study.training.precision,
        "threads": run.study.training.threads,
        "data_note": run.study.data.note,
    }


def _accuracies(
    run: Run, history: list[Epoch], outputs: np.ndarray | None, labels: np.ndarray
) -> dict[str, Any]:
    accuracy = None
    if outputs is not None:
        accuracy = float(100 * np.mean(outputs.argmax(axis=1) == labels))
    return {
        "accuracy": accuracy,
        "test_images": len(labels),
        "accuracy_authors": best(history, "test_accuracy_authors"),
        "accuracy_best_eval": best(history, "test_accuracy_eval"),
        "validation_accuracy": history[-1].validation_accuracy if history else None,
    }


def _effort(run: Run, state: TrainingState, sets: Sets) -> dict[str, Any]:
    seconds = sum(epoch.seconds for epoch in state.history)
    passes = state.epoch * run.epoch_images(len(sets.train))
    parameters = [p for p in state.model.parameters() if p.requires_grad]
    return {
        "params": sum(parameter.numel() for parameter in parameters),
        "epochs_run": state.epoch,
        "image_passes": passes,
        "train_seconds": round(seconds, 1),
        "images_per_second": round(passes / seconds, 1) if seconds else None,
        "micro_batch": state.micro_batch,
        "batch_normalisation_note": _batch_normalisation_note(run, state),
    }


def _batch_normalisation_note(run: Run, state: TrainingState) -> str | None:
    has_buffers = any("running_mean" in name for name, _ in state.model.named_buffers())
    split = state.micro_batch < run.budget.batch
    return BATCH_NORMALISATION_NOTE if has_buffers and split else None


def _provenance(state: TrainingState) -> dict[str, Any]:
    """Where the last epochs were trained, and all sessions of an interrupted run."""
    last = dict(state.sessions[-1])
    del last["first_epoch"]
    return {**last, "sessions": state.sessions}
