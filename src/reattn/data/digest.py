"""A digest that tells whether a source of images is still the one prepared."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from reattn.data.archives import is_litter
from reattn.errors import ReattnError
from reattn.files import read_json, sha256_of, write_json


def source_digest(path: Path | str) -> str:
    """A digest of an archive's bytes, or of the names and bytes in a folder.

    It does not depend on the place of the source or on any time, so that a moved
    archive or a touched folder is the same source.

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
        name = file.relative_to(path).as_posix()
        digest.update(f"{name}\0{sha256_of(file)}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def known_digest(path: Path | str, memory: Path) -> str:
    """The digest of a source, from memory where no file has changed since.

    Args:
        path: An archive or a folder that is there.
        memory: What `remember_digest` wrote, if it did.
    """
    try:
        known = read_json(memory)
        if known["listing"] == _listing(Path(path)):
            return known["digest"]
    except (ReattnError, KeyError, TypeError):
        pass
    return source_digest(path)


def remember_digest(path: Path | str, digest: str, memory: Path) -> None:
    """Keep a source's digest beside the dates of its files."""
    write_json(memory, {"listing": _listing(Path(path)), "digest": digest})


def _listing(path: Path) -> str:
    """A digest of place, names, sizes and dates of a source's files."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(_files(path)):
        facts = file.stat()
        line = f"{file}\0{facts.st_size}\0{facts.st_mtime_ns}\n"
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
