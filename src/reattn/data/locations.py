"""Where a study's images are taken from."""

from pathlib import Path

from reattn.config.paths import results_folder
from reattn.config.studies import DataSettings
from reattn.errors import DataError
from reattn.files import write_text


def source_path(study: str, settings: DataSettings, given: str | None) -> str | None:
    """The folder or archive to prepare: given, the study's, or the last one used.

    Args:
        study: The study's name.
        settings: Its data settings.
        given: What the user asked for, if anything.

    Returns:
        A path as text, or None where the source needs none.

    Raises:
        DataError: an image-folder study without any path, or a path that is not
            there.
    """
    if settings.source == "digits":
        return None
    path = given or settings.path or _remembered(study)
    if path is None and settings.source == "image-folder":
        raise DataError(
            f"Study {study} takes its images from a folder or an archive of them. "
            f"Name it: --config study={study} data_path=PATH"
        )
    if path is not None and not Path(path).exists() and path != _remembered(study):
        raise DataError(f"data_path = {path} does not exist.")
    return path


def remember_path(study: str, path: Path | None) -> None:
    """Keep the path of prepared data, so that later commands need not repeat it."""
    if path is not None:
        write_text(_memory(study), f"{path}\n")


def _memory(study: str) -> Path:
    return results_folder(study) / "work" / "data-path.txt"


def _remembered(study: str) -> str | None:
    memory = _memory(study)
    return memory.read_text(encoding="utf-8").strip() if memory.exists() else None
