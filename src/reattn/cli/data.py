"""Verbs that make the data: download, prepare."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from reattn.cli.arguments import DataPath, StudyName


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command()(download)
    app.command()(prepare)


def download(
    destination: Annotated[Path, typer.Argument(help="File to write.")],
    url: Annotated[
        str | None, typer.Option(help="Address; none: the official one.")
    ] = None,
) -> None:
    """Download the official CIFAR-10 archive and verify its checksum.

    Writes DESTINATION, whole or not at all.
    """
    from reattn.data import download_cifar10

    download_cifar10(destination, **({"url": url} if url else {}))


def prepare(study: StudyName, data_path: DataPath = None) -> None:
    """Bring a study's images into the form that all other verbs read.

    Reads the study's data source; writes results/STUDY/data/images.npy,
    labels.npy and data.json.
    """
    from reattn.config import load_study
    from reattn.config.paths import data_folder, shown
    from reattn.data import prepare as prepare_data
    from reattn.data.fit import require_images
    from reattn.data.locations import remember_path, source_path

    settings = load_study(study)
    given = source_path(study, settings.data, str(data_path) if data_path else None)
    path = Path(given) if given else None
    # A note in the data's own file would retrain everything whenever it is reworded.
    data = settings.data.model_copy(update={"note": None})
    fits = partial(require_images, study, settings)
    prepare_data(data, data_folder(study), path, fits)
    remember_path(study, path)
    typer.echo(f"Prepared {shown(data_folder(study))}.")
