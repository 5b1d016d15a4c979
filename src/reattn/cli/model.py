"""Verbs that measure models: measure, evaluate."""

import typer

from reattn.cli.arguments import Seed, StudyName, VariantId


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command()(measure)
    app.command()(evaluate)


def measure(study: StudyName) -> None:
    """Measure parameters, operations and wall times of a study's variants.

    Needs no trained weights. Writes results/STUDY/measure/measurements.csv and
    measurements.json. Let nothing else run on the machine meanwhile.
    """
    from reattn.measure.study import measure_configured_study

    measure_configured_study(study)


def evaluate(study: StudyName, variant: VariantId, seed: Seed = 0) -> None:
    """Evaluate a run's weights on the test images, in eval mode.

    Reads results/STUDY/runs/VARIANT/seedSEED/model.pt and results/STUDY/data;
    writes nothing.
    """
    from reattn.config.runs import find_run
    from reattn.training.weights import evaluate_run

    typer.echo(f"{evaluate_run(find_run(study, variant, seed)):.2f} %")
