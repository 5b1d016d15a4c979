"""Runs whose weights the authors' own code trained."""

from pathlib import Path
from typing import Any

from reattn.config.runs import Run
from reattn.errors import ReattnError
from reattn.models.build import build_model
from reattn.models.checkpoints import load_authors_checkpoint
from reattn.training.accuracy import log_probabilities
from reattn.training.alone import alone
from reattn.training.devices import autocast_for, use_device
from reattn.training.outcome import write_outcome
from reattn.training.provenance import provenance
from reattn.training.randomness import derived_seed
from reattn.training.sets import open_sets
from reattn.training.state import TrainingState, optimizer_of


def import_run(run: Run, checkpoint: Path, *, replace: bool = False) -> dict[str, Any]:
    """Load an authors' checkpoint, evaluate it and write the run's outputs.

    Args:
        run: The run whose place it takes.
        checkpoint: Their best_model.ckpt.
        replace: Whether it may take the place of a run that is there.

    Returns:
        The metrics that were written.

    Raises:
        CheckpointError: the file does not fit the variant, key by key.
        DataError: the data is not prepared.
        ReattnError: a run is there and may not be replaced, or another process
            trains it.
    """
    with alone(run):
        return _import_alone(run, checkpoint, replace)


def _import_alone(run: Run, checkpoint: Path, replace: bool) -> dict[str, Any]:
    if (run.folder / "status.json").exists() and not replace:
        raise ReattnError(
            f"{run.folder} holds a run. To put the checkpoint in its place, add "
            "--replace."
        )
    device = use_device(run.study.training)
    sets = open_sets(run, device)
    size = tuple(sets.test.pixels.shape[-2:])
    model = build_model(
        run.variant, image_size=size, num_classes=len(sets.dataset.classes)
    )
    load_authors_checkpoint(model, checkpoint)
    model.to(device)
    state = TrainingState(
        model=model,
        optimizer=optimizer_of(model, run.variant.recipe),
        micro_batch=run.budget.batch,
        sessions=[{"first_epoch": 1, **provenance(device, run.code_hash)}],
    )
    with autocast_for(run.study.training, device)():
        outputs = log_probabilities(model, sets.test, derived_seed(run.seed, "test"))
    return write_outcome(
        run,
        state,
        sets,
        status="imported",
        reason=f"weights of the authors' code, from {checkpoint.name}",
        log_probability=outputs,
        wandb_run=None,
    )
