"""The published files of CIFAR-10: names, checksums, download."""

import hashlib
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from reattn.data.archives import refuse_web_page
from reattn.errors import DataError
from reattn.files import written_whole

_TIMEOUT_SECONDS = 60
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Release:
    """Names and MD5 checksums of the published files."""

    url: str
    archive: str
    archive_md5: str
    folder: str
    train: tuple[tuple[str, str], ...]
    test: tuple[tuple[str, str], ...]
    names: tuple[str, str]

    @property
    def files(self) -> dict[str, str]:
        """Checksum of each file, training batches first."""
        return dict([*self.train, *self.test, self.names])


def official_release() -> Release:
    """The files as torchvision knows them."""
    from torchvision.datasets import CIFAR10

    return Release(
        url=CIFAR10.url,
        archive=CIFAR10.filename,
        archive_md5=CIFAR10.tgz_md5,
        folder=CIFAR10.base_folder,
        train=tuple(map(tuple, CIFAR10.train_list)),
        test=tuple(map(tuple, CIFAR10.test_list)),
        names=(CIFAR10.meta["filename"], CIFAR10.meta["md5"]),
    )


def download_cifar10(destination: Path | str, url: str | None = None) -> Path:
    """Download the official archive, whole and verified, or nothing.

    Args:
        destination: File to write, or a folder to write it into. A file that is
            there already and has the right checksum is kept.
        url: Where from; the publisher's own address unless given.

    Returns:
        The archive's path.

    Raises:
        DataError: the server cannot be reached or sent something else.
    """
    release = official_release()
    url, destination = url or release.url, Path(destination)
    if destination.is_dir():
        destination = destination / release.archive
    if destination.is_file() and _md5_of(destination) == release.archive_md5:
        return destination
    with written_whole(destination) as temporary:
        _fetch(url, temporary)
        verify_archive(temporary, release, f"The file from {url}")
    return destination


def _fetch(url: str, path: Path) -> None:
    try:
        with (
            closing(urlopen(url, timeout=_TIMEOUT_SECONDS)) as answer,
            path.open("wb") as file,
        ):
            while block := answer.read(_BLOCK):
                file.write(block)
    except (URLError, HTTPException, OSError, ValueError) as fault:
        raise DataError(
            f"{url} cannot be downloaded ({fault}). Download it elsewhere and name the "
            "file with --config data_path=PATH."
        ) from None


def verify_archive(path: Path, release: Release, name: str) -> None:
    """Raise DataError unless the file is the published archive, byte for byte."""
    found = _md5_of(path)
    if found == release.archive_md5:
        return
    try:
        refuse_web_page(path)
    except DataError:
        raise DataError(
            f"{name} is a web page, not {release.archive}: the server answered with a "
            "page. Download it again, or get it elsewhere."
        ) from None
    raise DataError(
        f"{name} is not the published {release.archive} or is torn: its MD5 is "
        f"{found}, not {release.archive_md5}. Download it again."
    )


def _md5_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()
