"""Where a study's images are taken from."""

import os
from pathlib import Path

from reattn.config.paths import results_folder
from reattn.config.studies import DataSettings
from reattn.errors import DataError
from reattn.files import written_whole


def source_path(study: str, settings: DataSettings, given: str | None) -> str | None:
    """The folder or archive to prepare: given, the study's, or the last one given.

    Args:
        study: The study's name.
        settings: Its data settings.
        given: What the user asked for, if anything.

    Returns:
        An absolute path, or None where the source needs none.

    Raises:
        DataError: an image-folder study without any path, a path that is not there,
            or one for digits, which are in a package.
    """
    if settings.source == "digits":
        if given:
            raise DataError(
                f"Study {study} takes its digits from scikit-learn, not from {given}. "
                "Leave data_path out, or choose a study of images."
            )
        return None
    asked = given or settings.path
    if asked:
        return _existing(str(asked))  # `--config data_path=5` gives a number
    remembered = _remembered(study)
    if remembered is None and settings.source == "image-folder":
        raise DataError(
            f"Study {study} takes its images from a folder or an archive of them. "
            f"Name it: snakemake --config study={study} data_path=PATH, or "
            f"python -m reattn prepare {study} --data-path PATH."
        )
    return remembered


def _existing(asked: str) -> str:
    path = Path(asked).expanduser().resolve()
    if not path.exists():
        raise DataError(f"data_path = {asked} does not exist.")
    return str(path)


def remember_path(study: str, path: Path | None) -> None:
    """Keep a path that a user gave, so that later commands need not repeat it.

    What lies in the study's own folder was downloaded by the workflow.
    """
    if path is None or path.is_relative_to(results_folder(study).resolve()):
        return
    # A path is bytes, which need not be text where the locale knows ASCII alone.
    with written_whole(_memory(study)) as temporary:
        temporary.write_bytes(os.fsencode(path) + b"\n")


def _memory(study: str) -> Path:
    return results_folder(study) / "work" / "data-path.txt"


def _remembered(study: str) -> str | None:
    memory = _memory(study)
    return os.fsdecode(memory.read_bytes().strip()) if memory.exists() else None
