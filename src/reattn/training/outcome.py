"""The declared outputs of a run, written however it ended."""

from typing import Any

import numpy as np

from reattn.config.runs import Run
from reattn.files import write_json, written_whole
from reattn.training import checkpoints
from reattn.training.history import Epoch, best, write_history
from reattn.training.sets import Sets
from reattn.training.state import TrainingState

BATCH_NORMALISATION_NOTE = (
    "batch normalisation took its statistics from micro-batches, not from the "
    "recipe's batch"
)


def write_outcome(
    run: Run,
    state: TrainingState,
    sets: Sets,
    *,
    status: str,
    reason: str | None,
    log_probability: np.ndarray | None,
    wandb_run: str | None,
) -> dict[str, Any]:
    """Write metrics, weights, history, predictions and, last, the status.

    Args:
        run: The run.
        state: Where it ended.
        sets: Its images.
        status: ok, diverged, failed or imported.
        reason: Why, unless it is ok.
        log_probability: (test images, classes) at the end; None without an end.
        wandb_run: Link or folder of the tracked run.

    Returns:
        The metrics.
    """
    labels = sets.test.labels.cpu().numpy()
    metrics = {
        **_identity(run, status),
        **_accuracies(run, state.history, log_probability, labels),
        **_effort(run, state, sets),
        **_provenance(state),
        "wandb_run": wandb_run,
        "data_checksum": sets.dataset.info["checksum"],
        "data_source": sets.dataset.info["source"],
        "data_note": run.study.data.note,
    }
    checkpoints.save(run.folder / "model.pt", {"model": state.model.state_dict()})
    write_history(run.folder / "history.csv", state.history)
    _write_predictions(run, labels, log_probability)
    write_json(run.folder / "metrics.json", metrics)
    write_json(
        run.folder / "status.json",
        {"status": status, "reason": reason, "epoch": state.epoch},
    )
    return metrics


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
    }


def _accuracies(
    run: Run,
    history: list[Epoch],
    log_probability: np.ndarray | None,
    labels: np.ndarray,
) -> dict[str, Any]:
    accuracy = None
    if log_probability is not None:
        accuracy = float(100 * np.mean(log_probability.argmax(axis=1) == labels))
    return {
        "accuracy": accuracy,
        "test_images": len(labels),
        "accuracy_authors": best(history, "test_accuracy_authors"),
        "accuracy_best_eval": best(history, "test_accuracy_eval"),
        "evaluation_images": run.study.training.evaluation_images,
        "validation_accuracy": history[-1].validation_accuracy if history else None,
        "validation_reason": run.study.validation.reason,
    }


def _effort(run: Run, state: TrainingState, sets: Sets) -> dict[str, Any]:
    epoch_images = run.epoch_images(len(sets.train))
    seconds = sum(epoch.seconds for epoch in state.history)
    passes = state.epoch * epoch_images
    parameters = [p for p in state.model.parameters() if p.requires_grad]
    return {
        "params": sum(parameter.numel() for parameter in parameters),
        "epochs_run": state.epoch,
        "epochs_planned": run.budget.last_epoch,
        "image_passes": passes,
        "train_seconds": round(seconds, 1),
        "images_per_second": round(passes / seconds, 1) if seconds else None,
        "batch": run.budget.batch,
        "micro_batch": state.micro_batch,
        "batch_normalisation_note": _batch_normalisation_note(run, state),
        "precision": run.study.training.precision,
        "threads": run.study.training.threads,
    }


def _provenance(state: TrainingState) -> dict[str, Any]:
    """Where the last epochs were trained, and all sessions of an interrupted run."""
    last = dict(state.sessions[-1])
    del last["first_epoch"]
    return {**last, "sessions": state.sessions}


def _batch_normalisation_note(run: Run, state: TrainingState) -> str | None:
    has_buffers = any("running_mean" in name for name, _ in state.model.named_buffers())
    split = state.micro_batch < run.budget.batch
    return BATCH_NORMALISATION_NOTE if has_buffers and split else None


def _write_predictions(
    run: Run, labels: np.ndarray, log_probability: np.ndarray | None
) -> None:
    if log_probability is None:
        labels = labels[:0]
        log_probability = np.empty((0, 0), dtype=np.float32)
        prediction = labels
    else:
        prediction = log_probability.argmax(axis=1)
    path = run.folder / "predictions.npz"
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            label=labels,
            prediction=prediction,
            log_probability=log_probability.astype(np.float32),
        )
