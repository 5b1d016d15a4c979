"""The verb new-variant: begins a variant of one's own."""

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command()(new_variant)


def new_variant(
    name: Annotated[str, typer.Argument(help="The new variant's id.")],
    like: Annotated[
        str, typer.Option(help="The variant whose settings it begins with.")
    ],
    mechanism: Annotated[
        str | None,
        typer.Option(help="Begin a module of this name that computes its attention."),
    ] = None,
) -> None:
    """Write a variant of your own, with every setting explained.

    Reads config/variants/LIKE.yaml; writes config/variants/NAME.yaml, and with
    --mechanism the module src/reattn/models/mechanisms/MECHANISM.py, whose class
    Attention is the attention of dot products until you change it.
    """
    from reattn.config.new_variants import GROUP, write_new_variant

    written = write_new_variant(name, like, mechanism)
    typer.echo(
        f"{' and '.join(written)} written, with the settings of {like}.\n"
        "Next:\n"
        "  1. Change what is to differ.\n"
        "  2. Name it in a study, config/studies/STUDY.yaml: its group under\n"
        f"     `groups:` ({GROUP}), or {name} alone under `variants:`.\n"
        "  3. python -m reattn check STUDY\n"
        "  4. snakemake --cores all --config study=STUDY"
    )
