"""Trains one run from its configuration to its declared outputs."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import torch

from reattn.config.paths import shown
from reattn.config.runs import Run
from reattn.data.facts import FACTS
from reattn.errors import DataError, DeviceError, ReattnError
from reattn.files import read_json
from reattn.training.accuracy import log_probabilities
from reattn.training.alone import WAIT, alone
from reattn.training.devices import autocast_for, use_device
from reattn.training.fresh import fresh_model
from reattn.training.loop import Loop
from reattn.training.memory import micro_batch_for
from reattn.training.outcome import write_failure, write_outcome
from reattn.training.provenance import provenance
from reattn.training.randomness import derived_seed
from reattn.training.sets import Sets, open_sets
from reattn.training.state import TrainingState, optimizer_of, weights_digest
from reattn.training.steps import DivergenceError, is_out_of_memory
from reattn.training.tracking import Tracker, tracker_of

log = logging.getLogger(__name__)


def train_run(run: Run, *, wait: float = WAIT) -> dict[str, Any]:
    """Train a run, or go on with it, and write its outputs.

    A run that diverges, whose memory does not hold a single image or whose prepared
    data is not sound ends with the status that says so; its outputs are written all
    the same.

    Args:
        run: What to train.
        wait: Seconds to wait for another process that trains it.

    Returns:
        The metrics that were written.

    Raises:
        DataError: the data is not prepared, or it is not sound and the outputs of a
            run that ended well would be lost.
        DeviceError: the device that the study needs is not there.
        ConfigError: the study asks for more images than there are.
        ReattnError: another process trains the run, it holds imported weights, or
            the disk is full.
    """
    with alone(run, wait=wait):
        if _recorded_status(run) == "imported":
            raise ReattnError(
                f"{run.folder} holds imported weights. Remove it to train {run.name}."
            )
        return _train_alone(run)


def _recorded_status(run: Run) -> str | None:
    """How the outputs that are there say that the run ended."""
    try:
        content = read_json(run.folder / "status.json")
    except ReattnError:
        return None
    return content.get("status") if isinstance(content, dict) else None


def _train_alone(run: Run) -> dict[str, Any]:
    device = use_device(run.study.training)
    origin = provenance(device, run.code_hash)
    try:
        sets = open_sets(run, device)
        state = _state(run, sets, device)
    except (DataError, RuntimeError, MemoryError) as fault:
        reason = _reason_not_to_start(run, fault)
        if reason is None:
            raise
        log.error("%s failed: %s", run.name, reason)
        return write_failure(run, reason, origin)
    if state.epoch:
        log.info("%s goes on after epoch %d", run.name, state.epoch)
    tracker = tracker_of(run)
    loop = Loop(
        run=run,
        state=state,
        sets=sets,
        checkpoint=_checkpoint(run),
        fingerprint=_fingerprint(run, sets),
        autocast=autocast_for(run.study.training, device),
        on_epoch=tracker.epoch,
        provenance=origin,
    )
    return _train_to_the_end(loop, tracker)


def _state(run: Run, sets: Sets, device: torch.device) -> TrainingState:
    """Where the run stands: after its last finished epoch, or at its start."""
    size = sets.test.pixels.shape[-2:]
    classes = len(sets.dataset.classes)
    model = fresh_model(run, tuple(size), classes)
    initial_weights = weights_digest(model)
    model = model.to(device)
    state = TrainingState(
        model=model,
        initial_weights=initial_weights,
        optimizer=optimizer_of(model, run.variant.recipe),
        micro_batch=micro_batch_for(run, tuple(size), classes, device),
    )
    state.resume(_checkpoint(run), _fingerprint(run, sets))
    return state


def _checkpoint(run: Run) -> Path:
    return run.work / "checkpoint.pt"


def _fingerprint(run: Run, sets: Sets) -> str:
    return f"{run.fingerprint}-{sets.dataset.info['checksum'][:16]}"


def _reason_not_to_start(run: Run, fault: Exception) -> str | None:
    """Why the run failed; None for a fault to mend before anything is written."""
    if is_out_of_memory(fault):
        return "out of memory before the first step"
    unsound = isinstance(fault, DataError) and (run.data / FACTS).is_file()
    if not unsound or _recorded_status(run) == "ok":
        return None
    return str(fault).replace(str(run.data), shown(run.data))


def _train_to_the_end(loop: Loop, tracker: Tracker) -> dict[str, Any]:
    """Train what is left, test, and write the outputs."""
    status, reason, outputs = "ok", None, None
    try:
        loop.train()
        outputs = _tested(loop)
    except DivergenceError as fault:
        status, reason = "diverged", str(fault)
    except (DeviceError, RuntimeError, MemoryError) as fault:
        if not isinstance(fault, DeviceError) and not is_out_of_memory(fault):
            raise
        status, reason = "failed", " ".join(str(fault).split())
    if status != "ok":
        log.error("%s %s: %s", loop.run.name, status, reason)
        loop.state = _last_good_state(loop)
    metrics = write_outcome(
        loop.run,
        loop.state,
        loop.sets,
        status=status,
        reason=reason,
        log_probability=outputs,
        wandb_run=tracker.link,
    )
    tracker.finish({"status": status, "accuracy": metrics["accuracy"]})
    return metrics


def _tested(loop: Loop) -> np.ndarray:
    """Log-probabilities of all test images: (images, classes)."""
    seed = derived_seed(loop.run.seed, "test")
    with loop.autocast():
        outputs = log_probabilities(loop.state.model, loop.sets.test, seed)
    if not np.isfinite(outputs).all():
        raise DivergenceError("outputs are not finite")
    return outputs


def _last_good_state(loop: Loop) -> TrainingState:
    """The state of the last epoch that ended well, or the fresh one before any.

    It is only written down, so it needs no room on the card.
    """
    state = _state(loop.run, loop.sets, torch.device("cpu"))
    state.sessions = loop.state.sessions
    state.micro_batch = loop.state.micro_batch
    return state
