"""Verbs that tell what would be done: check, variants, plan."""

import sys
from typing import Annotated

import typer

from reattn.cli.arguments import StudyName


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command()(check)
    app.command()(variants)
    app.command()(plan)


def check(study: StudyName) -> None:
    """Check a study's configuration; all faults are reported together.

    Reads config/studies/STUDY.yaml, config/variants/*.yaml and config/claims.yaml;
    writes nothing.
    """
    from reattn.config.claims import load_claims
    from reattn.config.runs import runs_of

    runs = runs_of(study)
    load_claims()
    typer.echo(f"{study}: {len(runs)} runs, no fault found.")


def variants(
    study: Annotated[
        str, typer.Option(help="Sizes and overrides are those of this study.")
    ] = "paper",
    csv: Annotated[
        bool, typer.Option("--csv", help="Comma-separated values, for programs.")
    ] = False,
) -> None:
    """List a study's variants with parameters and operations.

    Reads the configuration, builds every model; writes nothing.
    """
    from reattn.measure.listing import list_variants

    table = list_variants(study)
    if csv:
        table.to_csv(sys.stdout, index=False)
    else:
        typer.echo(table.to_string(index=False))


def plan(study: StudyName) -> None:
    """Tell what a study would cost: runs, epochs, time, memory, disk.

    Reads the configuration; times a small matrix product; writes nothing.
    """
    from reattn.cli.planning import plan_of

    typer.echo(plan_of(study))
