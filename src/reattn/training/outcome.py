"""The declared outputs of a run, written however it ended."""

from typing import Any

import numpy as np
import torch

from reattn.config.runs import Run
from reattn.files import write_json, written_whole
from reattn.training import checkpoints
from reattn.training.history import Epoch, write_history
from reattn.training.metrics import metrics_of, metrics_without_model
from reattn.training.sets import Sets
from reattn.training.state import TrainingState


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
    metrics = metrics_of(run, status, state, sets, log_probability)
    metrics["wandb_run"] = wandb_run
    labels = sets.test.labels.cpu().numpy()
    _remove_status(run)
    _write_weights(run, state.model.state_dict())
    write_history(run.folder / "history.csv", state.history)
    _write_predictions(run, labels, log_probability)
    _write_metrics_and_status(run, metrics, reason)
    return metrics


def write_failure(run: Run, reason: str, origin: dict[str, Any]) -> dict[str, Any]:
    """Write the outputs of a run that failed before it had a model.

    Args:
        run: The run.
        reason: Why it failed.
        origin: Where it was tried.

    Returns:
        The metrics.
    """
    metrics = metrics_without_model(run, "failed", origin) | {"wandb_run": None}
    no_epochs: list[Epoch] = []
    _remove_status(run)
    _write_weights(run, {})
    write_history(run.folder / "history.csv", no_epochs)
    _write_predictions(run, np.empty(0, dtype=np.int64), None)
    _write_metrics_and_status(run, metrics, reason)
    return metrics


def _remove_status(run: Run) -> None:
    """A kill among the writes must not leave an old status beside new numbers."""
    (run.folder / "status.json").unlink(missing_ok=True)


def _write_weights(run: Run, weights: dict[str, torch.Tensor]) -> None:
    checkpoints.save(run.folder / "model.pt", {"model": weights})


def _write_metrics_and_status(
    run: Run, metrics: dict[str, Any], reason: str | None
) -> None:
    write_json(run.folder / "metrics.json", metrics)
    ending = {"status": metrics["status"], "reason": reason}
    write_json(run.folder / "status.json", {**ending, "epoch": metrics["epochs_run"]})


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
