"""A digest that tells whether a source of images is still the one prepared."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from reattn.data.archives import is_litter
from reattn.files import sha256_of


def source_digest(path: Path | str) -> str:
    """A digest of an archive's bytes, or of the names and sizes in a folder.

    It does not depend on the place of the source or on any time, so that a moved
    archive or a touched folder is the same source. A file that was replaced by one
    of the same size goes unnoticed.

    Args:
        path: An archive or a folder that is there.

    Returns:
        64 hexadecimal digits.
    """
    path = Path(path).expanduser()
    if path.is_file():
        return sha256_of(path)
    digest = hashlib.sha256()
    for file in sorted(_files(path)):
        line = f"{file.relative_to(path).as_posix()}\0{file.stat().st_size}\n"
        digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    """Files that may be data: of the splits where there are splits, without litter."""
    splits = [folder / name for name in ("train", "test")]
    parts = splits if all(split.is_dir() for split in splits) else [folder]
    for part in parts:
        for file in part.rglob("*"):
            if file.is_file() and not is_litter(str(file.relative_to(folder))):
                yield file
