"""The verb constructed: a small task that symmetric scores cannot solve."""

import typer

from reattn.cli.arguments import StudyName


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command()(constructed)


def constructed(study: StudyName) -> None:
    """Train every form of scores on a small task that symmetric ones cannot solve.

    Takes seconds on one thread of the CPU and needs no images. Reads only that the
    study exists; writes results/STUDY/measure/constructed.csv, one row a form and
    seed, and constructed-attention.csv, which kind of token attends to which.
    """
    from reattn.config import load_study, results_folder
    from reattn.measure.constructed import measure_constructed

    load_study(study)
    measure_constructed(results_folder(study) / "measure", progress=typer.echo)
