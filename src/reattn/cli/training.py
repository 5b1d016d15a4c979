"""Verbs that make weights: train, import."""

import contextlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from reattn.cli.arguments import Seed, StudyName, VariantId
from reattn.cli.streams import drop_unwritten


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command()(train)
    app.command("import")(import_checkpoint)


def train(study: StudyName, variant: VariantId, seed: Seed = 0) -> None:
    """Train one run, or go on with it after its last finished epoch.

    Reads results/STUDY/data; writes results/STUDY/runs/VARIANT/seedSEED/ and
    keeps checkpoints in results/STUDY/work/VARIANT/seedSEED/. A run that diverges,
    runs out of memory or meets unsound images says so in its status.json; the
    command succeeds then too.
    """
    from reattn.config.runs import find_run
    from reattn.training.run import train_run

    _say(train_run(find_run(study, variant, seed)))


def import_checkpoint(
    variant: VariantId,
    checkpoint: Annotated[
        Path, typer.Argument(help="The authors' best_model.ckpt of this variant.")
    ],
    study: Annotated[str, typer.Option(help="The study that it enters.")],
    seed: Seed = 0,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of a run that is there.")
    ] = False,
) -> None:
    """Take over weights that the authors' own code trained, and evaluate them.

    Reads CHECKPOINT and results/STUDY/data; writes results/STUDY/runs/VARIANT/
    seedSEED/ with the status `imported`.
    """
    from reattn.config.runs import find_run
    from reattn.training.imports import import_run

    run = find_run(study, variant, seed)
    _say(import_run(run, checkpoint, replace=replace))


def _say(metrics: dict[str, Any]) -> None:
    """Tell how a run ended; it has, even where nothing can be printed any more."""
    accuracy = metrics["accuracy"]
    shown = "n/a" if accuracy is None else f"{accuracy:.2f} %"
    run = f"{metrics['variant']} seed {metrics['seed']}"
    with contextlib.suppress(OSError):
        typer.echo(f"{run}: {metrics['status']}, {shown}")
    drop_unwritten(sys.stdout)
