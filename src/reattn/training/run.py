"""Trains one run from its configuration to its declared outputs."""

import logging
from typing import Any

import numpy as np
import torch

from reattn.config.runs import Run
from reattn.errors import DeviceError, ReattnError
from reattn.files import read_json
from reattn.models.build import build_model
from reattn.training.accuracy import log_probabilities
from reattn.training.devices import autocast_for, use_device
from reattn.training.history import Epoch
from reattn.training.loop import Loop
from reattn.training.memory import micro_batch_for
from reattn.training.outcome import write_outcome
from reattn.training.provenance import provenance
from reattn.training.randomness import derived_seed
from reattn.training.sets import Sets, open_sets
from reattn.training.state import TrainingState, optimizer_of
from reattn.training.steps import DivergenceError
from reattn.training.tracking import Tracker

log = logging.getLogger(__name__)


def train_run(run: Run) -> dict[str, Any]:
    """Train a run, or go on with it, and write its outputs.

    A run that diverges or whose memory does not hold a single image ends with the
    status that says so; its outputs are written all the same.

    Args:
        run: What to train.

    Returns:
        The metrics that were written.

    Raises:
        DataError: the data is not prepared or not sound.
        DeviceError: the device that the study needs is not there.
        ConfigError: the study asks for more images than there are.
    """
    _refuse_imported(run)
    device = use_device(run.study.training)
    sets = open_sets(run, device)
    state = _fresh_state(run, sets, device)
    fingerprint = f"{run.fingerprint}-{sets.dataset.info['checksum'][:16]}"
    checkpoint = run.work / "checkpoint.pt"
    state.resume(checkpoint, fingerprint)
    if state.epoch:
        log.info("%s goes on after epoch %d", run.name, state.epoch)
    tracker = _tracker(run)
    loop = Loop(
        run=run,
        state=state,
        sets=sets,
        checkpoint=checkpoint,
        fingerprint=fingerprint,
        autocast=autocast_for(run.study.training, device),
        on_epoch=lambda line: tracker.log(line.epoch, _tracked(line)),
        provenance=provenance(device),
    )
    status, reason = _attempt(loop)
    if status != "ok":
        loop.state = _last_good_state(loop, device)
    return _finish(run, loop, tracker, status, reason)


def _refuse_imported(run: Run) -> None:
    status = run.folder / "status.json"
    if status.exists() and read_json(status).get("status") == "imported":
        raise ReattnError(
            f"{run.folder} holds imported weights. Remove it to train {run.name}."
        )


def _fresh_state(run: Run, sets: Sets, device: torch.device) -> TrainingState:
    size = sets.test.pixels.shape[-2:]
    classes = len(sets.dataset.classes)
    torch.manual_seed(derived_seed(run.seed, "weights"))
    model = build_model(run.variant, image_size=tuple(size), num_classes=classes)
    model = model.to(device)
    return TrainingState(
        model=model,
        optimizer=optimizer_of(model, run.variant.recipe),
        micro_batch=micro_batch_for(run, tuple(size), classes, device),
    )


def _attempt(loop: Loop) -> tuple[str, str | None]:
    """Train to the end; status and reason."""
    try:
        loop.train()
        return "ok", None
    except DivergenceError as fault:
        status, reason = "diverged", str(fault)
    except DeviceError as fault:
        status, reason = "failed", str(fault)
    log.error("%s %s: %s", loop.run.name, status, reason)
    return status, reason


def _last_good_state(loop: Loop, device: torch.device) -> TrainingState:
    """The state of the last epoch that ended well, or the fresh one before any."""
    state = _fresh_state(loop.run, loop.sets, device)
    state.resume(loop.checkpoint, loop.fingerprint)
    state.sessions = loop.state.sessions
    return state


def _finish(
    run: Run, loop: Loop, tracker: Tracker, status: str, reason: str | None
) -> dict[str, Any]:
    outputs = None
    if status == "ok":
        seed = derived_seed(run.seed, "test")
        with loop.autocast():
            outputs = log_probabilities(loop.state.model, loop.sets.test, seed)
        if not np.isfinite(outputs).all():
            status, reason, outputs = "diverged", "outputs are not finite", None
    metrics = write_outcome(
        run,
        loop.state,
        loop.sets,
        status=status,
        reason=reason,
        log_probability=outputs,
        wandb_run=tracker.link,
    )
    tracker.finish({"status": status, "accuracy": metrics["accuracy"]})
    return metrics


def _tracker(run: Run) -> Tracker:
    return Tracker(
        run.study.training.wandb,
        name=run.name,
        group=run.study_name,
        config={
            "model": run.variant.model.model_dump(),
            "recipe": run.variant.recipe.model_dump(),
            "training": run.study.training.model_dump(),
            "seed": run.seed,
            "fingerprint": run.fingerprint,
        },
        folder=run.work,
    )


def _tracked(line: Epoch) -> dict[str, float | None]:
    return {
        "learning_rate": line.learning_rate,
        "train/loss": line.train_loss,
        "train/accuracy": line.train_accuracy,
        "test/accuracy_eval": line.test_accuracy_eval,
        "test/accuracy_authors": line.test_accuracy_authors,
        "validation/accuracy": line.validation_accuracy,
    }
