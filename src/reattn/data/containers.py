"""Members of a folder, a tar and a zip, in the order they lie.

Each reader yields (name, content): a folder's name ends with a slash, and only
wanted files have their content read. Links, devices and names that point outside
raise DataError; everything else is the container's own fault to raise.
"""

import bz2
import gzip
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable, Container, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from reattn.errors import DataError

Members = Iterator[tuple[str, bytes | None]]
OPENERS: dict[bytes, Callable[[Path], IO[bytes]]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
}
_TAR_BLOCK = 512
_BLOCK = 1 << 20
LARGEST = 1 << 28  # bytes of one member; a batch of CIFAR-10 has an eighth of it


def folder_members(folder: Path, wanted: Container[str]) -> Members:
    """Walk a folder; its own links are followed, unless they lead round in a circle."""
    for root, folders, files in os.walk(folder, followlinks=True):
        folders.sort()
        relative = Path(root).relative_to(folder)
        for name in folders:
            member = (relative / name).as_posix()
            if Path(root, name).is_symlink() and _leads_back(Path(root, name)):
                _refuse(folder, member, "is a link to a folder that holds it")
            yield f"{member}/", None
        for name in sorted(files):
            member = (relative / name).as_posix()
            # Reading a pipe would wait for ever.
            if not Path(root, name).is_file():
                _refuse(folder, member, "is a broken link, a pipe or a device")
            yield member, _content(folder, member) if member in wanted else None


def _leads_back(link: Path) -> bool:
    return link.parent.resolve().is_relative_to(link.resolve())


def _content(folder: Path, member: str) -> bytes:
    path = folder / member
    try:
        _check_size(folder, member, path.stat().st_size)
        return path.read_bytes()
    except OSError as fault:
        raise DataError(f"{path} cannot be read: {fault.strerror}.") from None


def tar_members(path: Path, wanted: Container[str]) -> Members:
    """Read a tar, compressed or not, as one stream."""
    with path.open("rb") as file:
        opener = OPENERS.get(next(filter(file.read(6).startswith, OPENERS), b""))
    if opener is None:
        _check_tar_end(path)
    with (
        (opener or open)(path, "rb") as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        for member in archive:
            if not (member.isfile() or member.isdir()):
                _refuse(path, member.name, "is a link or a device")
            name = _checked_name(path, member.name)
            if member.isdir():
                yield f"{name}/", None
            else:
                _check_size(path, name, member.size)
                content = archive.extractfile(member) if name in wanted else None
                yield name, content.read() if content else None
        # The checksum of a compressed file stands behind the last member.
        while stream.read(_BLOCK):
            pass


def _check_tar_end(path: Path) -> None:
    """Without compression, a tar cut between two members reads as a shorter one."""
    with path.open("rb") as file:
        file.seek(-min(_TAR_BLOCK, path.stat().st_size), os.SEEK_END)
        if any(file.read()):
            raise tarfile.ReadError("no end-of-archive block")


def zip_members(path: Path, wanted: Container[str]) -> Members:
    """Read a zip."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if stat.S_ISLNK(member.external_attr >> 16):
                _refuse(path, member.filename, "is a link")
            name = _checked_name(path, member.filename)
            if member.is_dir():
                yield f"{name}/", None
            else:
                _check_size(path, name, member.file_size)
                yield name, archive.read(member) if name in wanted else None


def _checked_name(path: Path, name: str) -> str:
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts:
        _refuse(path, name, "points outside the archive")
    return pure.as_posix()


def _check_size(path: Path, name: str, size: int) -> None:
    """A small archive can hold a member that fills all memory."""
    if size > LARGEST:
        _refuse(path, name, f"is larger than {LARGEST >> 20} MiB")


def _refuse(path: Path, name: str, why: str) -> None:
    raise DataError(f"{path}: the member {name} {why}, which is refused.")
