"""Files that are written whole or not at all."""

import csv
import errno
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reattn.errors import ReattnError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TEMPORARY = re.compile(r"\..+\.[a-z0-9_]{8}")  # what `written_whole` calls its files


@contextmanager
def written_whole(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success.

    The bytes reach the disk before the rename, so that a kill or a power cut
    leaves the old file or the new one, never half of one. On any exception the
    temporary file is removed and `path` is as it was.

    Raises:
        ReattnError: the disk is full, or a quota or the largest size is reached.
        OSError: another fault of the system; it names the file.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            _flush_to_disk(temporary)
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as fault:
        raise _named(fault, path) from None


def _named(fault: OSError, path: Path) -> Exception:
    """The fault with the file that was to be written, where it does not name one."""
    if fault.errno in NO_ROOM:
        return ReattnError(
            f"{path} cannot be written: {fault.strerror}. Make room, then give the "
            "same command again; what was written before is still there."
        )
    if fault.errno is not None and fault.filename is None:
        fault.filename = str(path)
    return fault


def reserve(path: Path) -> None:
    """Give every byte of a sparse file its place on the disk, or say that it is full.

    Writing to a memory map of a file that does not fit would end the process.

    Raises:
        OSError: there is no room.
    """
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files that killed processes left in a folder.

    Only for a folder into which nobody else writes meanwhile.
    """
    for path in folder.glob(".*"):
        if TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)


def _flush_to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_text(path: Path | str, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path | str, content: Any) -> None:
    """Write `content` as indented JSON, whole or not at all.

    Raises:
        ValueError: a number is not finite; JSON has no word for it.
    """
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def read_json(path: Path | str) -> Any:
    """Read a JSON file.

    Raises:
        ReattnError: the file is missing or is not JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReattnError(f"{path} is missing.") from None
    except ValueError as fault:
        raise ReattnError(f"{path} is not valid JSON: {fault}.") from None


def sha256_of(path: Path | str) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_rows(
    path: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]
) -> None:
    """Write rows as CSV, whole or not at all; what a row lacks is blank."""
    with (
        written_whole(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
