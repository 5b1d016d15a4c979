"""Files of a folder or of an archive, read in one stream and never unpacked."""

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from reattn.data.containers import (
    OPENERS,
    Members,
    folder_members,
    tar_members,
    zip_members,
)
from reattn.errors import DataError

_ZIP_MAGIC = b"PK"
_TAR_MAGIC = slice(257, 262), b"ustar"
_IGNORED = ("__MACOSX", "Thumbs.db")
_FAULTS = (
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,  # An encrypted zip.
    NotImplementedError,  # A compression of zip that Python does not know.
)


def list_members(path: Path) -> list[str]:
    """Names of all files and folders, a folder's with a slash at its end.

    Hidden files and the litter of desktop systems are left out.

    Args:
        path: A folder, or a .tar, .tar.gz, .tar.xz, .tar.bz2 or .zip archive.

    Raises:
        DataError: it is no archive, is torn, or a member is a link, has a `..` or
            comes twice.
    """
    names = [name for name, _ in _members(path, wanted=()) if not is_litter(name)]
    files = [name for name in names if not name.endswith("/")]
    if len(set(files)) != len(files):
        twice = next(name for name in sorted(files) if files.count(name) > 1)
        raise DataError(f"{path} holds {twice} twice. Pack the archive anew.")
    return names


def read_members(path: Path, wanted: Container[str]) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the wanted files, in the order they lie.

    Raises:
        DataError: as `list_members`.
    """
    for name, content in _members(path, wanted):
        if content is not None:
            yield name, content


def _members(path: Path, wanted: Container[str]) -> Members:
    if path.is_dir():
        reader = folder_members
    else:
        reader = zip_members if _archive_kind(path) == "zip" else tar_members
    with _fault_named(path):
        yield from reader(path, wanted)


@contextmanager
def _fault_named(path: Path) -> Iterator[None]:
    try:
        yield
    except _FAULTS as fault:
        raise DataError(
            f"{path} cannot be read to its end ({fault or type(fault).__name__}): it "
            "is torn or damaged. Copy or download it again."
        ) from None


def _archive_kind(path: Path) -> str:
    if not path.is_file():  # Reading a pipe would wait for ever.
        raise DataError(f"{path} is neither a folder nor a file. Is it the right path?")
    refuse_web_page(path)
    with path.open("rb") as file:
        start = file.read(512)
    if start.startswith(_ZIP_MAGIC):
        return "zip"
    where, magic = _TAR_MAGIC
    if start.startswith(tuple(OPENERS)) or start[where] == magic:
        return "tar"
    raise DataError(f"{path} is no tar or zip archive. Is it the right file?")


def refuse_web_page(path: Path) -> None:
    """Raise DataError if a server answered with a page instead of the file."""
    with path.open("rb") as file:
        start = file.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml")):
        raise DataError(
            f"{path} is a web page, not an archive: the server answered with a page. "
            "Download the archive again, or get it elsewhere."
        )


def is_litter(name: str) -> bool:
    """Whether a member is hidden, or litter of a desktop system."""
    parts = PurePosixPath(name).parts
    return not parts or any(part.startswith(".") or part in _IGNORED for part in parts)
