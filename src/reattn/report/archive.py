"""Archives whose bytes depend on their contents alone."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from reattn.files import written_whole

SUMS = "SHA256SUMS"


def write_archive(path: Path, folder: str, contents: Mapping[str, bytes]) -> int:
    """Write a .tar.gz, whole or not at all: the same contents give the same bytes.

    Names are sorted; times, owners and rights are the same everywhere. SHA256SUMS is
    added, in the form that `sha256sum -c` reads.

    Args:
        path: The archive.
        folder: The one folder that it unpacks to.
        contents: Names below that folder, and bytes.

    Returns:
        How many files it holds.
    """
    lines = [
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(contents.items())
    ]
    whole = {**contents, SUMS: "".join(lines).encode()}
    with (
        written_whole(path) as temporary,
        temporary.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, content in sorted(whole.items()):
            archive.addfile(_member(f"{folder}/{name}", content), io.BytesIO(content))
    return len(whole)


def _member(name: str, content: bytes) -> tarfile.TarInfo:
    """A file of nobody, made at no time."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o644
    return member
