"""Runs whose weights the authors' own code trained."""

from pathlib import Path
from typing import Any

from reattn.config.runs import Run
from reattn.models.build import build_model
from reattn.models.checkpoints import load_authors_checkpoint
from reattn.training.accuracy import log_probabilities
from reattn.training.devices import use_device
from reattn.training.outcome import write_outcome
from reattn.training.randomness import derived_seed
from reattn.training.sets import open_sets
from reattn.training.state import TrainingState, optimizer_of


def import_run(run: Run, checkpoint: Path) -> dict[str, Any]:
    """Load an authors' checkpoint, evaluate it and write the run's outputs.

    Args:
        run: The run whose place it takes.
        checkpoint: Their best_model.ckpt.

    Returns:
        The metrics that were written.

    Raises:
        CheckpointError: the file does not fit the variant, key by key.
        DataError: the data is not prepared.
    """
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
    )
    return write_outcome(
        run,
        state,
        sets,
        status="imported",
        reason=f"weights of the authors' code, from {checkpoint.name}",
        log_probability=log_probabilities(
            model, sets.test, derived_seed(run.seed, "test")
        ),
        wandb_run=None,
    )
