"""Arguments and options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

StudyName = Annotated[
    str, typer.Argument(help="A study: the name of a file in config/studies.")
]
VariantId = Annotated[
    str, typer.Argument(help="A variant: the name of a file in config/variants.")
]
Seed = Annotated[int, typer.Option(help="The run's seed; one of the study's.")]
DataPath = Annotated[
    Path | None,
    typer.Option(help="Folder or archive of images; instead of the study's own."),
]
