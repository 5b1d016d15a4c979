"""CIFAR-10 as its authors publish it, verified byte for byte.

Its files are pickles. Only bytes whose MD5 is the published one are unpickled,
and nothing but arrays and plain values may come out of them: a stranger's file
would have to match the checksum, and could then still name no function but
those that build an array.
"""

import hashlib
import io
import pickle
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from reattn.data.archives import read_members
from reattn.data.cifar10_files import Release, official_release, verify_archive
from reattn.data.images import SIZE_RULE, as_square
from reattn.data.source import SourceImages
from reattn.errors import DataError

_SIDE = 32
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


def read_cifar10(path: Path, size: int) -> SourceImages:
    """Read the official files and order images as they are published.

    Args:
        path: cifar-10-python.tar.gz, the unpacked cifar-10-batches-py, or a folder
            that holds one of them.
        size: Side of the images in pixels; 32 leaves them as they are.

    Raises:
        DataError: a file is missing or its checksum is not the published one.
    """
    release = official_release()
    contents, archive_checksum = _verified_contents(path, release)
    batches = [
        _unpickled(contents[name]) for name, _ in (*release.train, *release.test)
    ]
    counts = [len(batch["labels"]) for batch in batches]
    pixels = np.concatenate([batch["data"] for batch in batches])
    return SourceImages(
        classes=tuple(_unpickled(contents[release.names[0]])["label_names"]),
        labels=np.concatenate([batch["labels"] for batch in batches]).astype(np.int64),
        train_count=sum(counts[: len(release.train)]),
        images=_images(pixels.reshape(-1, 3, _SIDE, _SIDE), size),
        order="as published: data_batch_1 to data_batch_5, test_batch",
        treatment=SIZE_RULE,
        archive_checksum=archive_checksum,
    )


def _verified_contents(
    path: Path, release: Release
) -> tuple[dict[str, bytes], str | None]:
    """Bytes of each file by name, and the archive's checksum if there is one."""
    archive = path / release.archive if path.is_dir() else path
    if path.is_dir():
        for folder in (path, path / release.folder):
            if (folder / release.names[0]).is_file():
                return _verified_files(folder, release, PurePosixPath()), None
    if not archive.is_file():
        raise DataError(
            f"{path} holds neither {release.archive} nor {release.folder}. Name the "
            "archive or the folder that holds it."
        )
    verify_archive(archive, release, str(archive))
    return _verified_files(archive, release, PurePosixPath(release.folder)), (
        f"md5:{release.archive_md5}"
    )


def _verified_files(
    container: Path, release: Release, folder: PurePosixPath
) -> dict[str, bytes]:
    wanted = {(folder / name).as_posix(): name for name in release.files}
    contents = {
        wanted[member]: content for member, content in read_members(container, wanted)
    }
    for name, expected in release.files.items():
        if name not in contents:
            raise DataError(f"{container} lacks {name}. Unpack the archive again.")
        found = hashlib.md5(contents[name]).hexdigest()
        if found != expected:
            raise DataError(
                f"{container}: {name} is not the published file or is torn: its MD5 is "
                f"{found}, not {expected}. Unpack the archive again."
            )
    return contents


def _unpickled(content: bytes) -> dict[str, Any]:
    return _ArrayUnpickler(io.BytesIO(content), encoding="latin1").load()


class _ArrayUnpickler(pickle.Unpickler):
    """Reads numpy arrays and plain Python values, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise DataError(f"A CIFAR-10 file asks for {module}.{name}: refused.")
        return _ALLOWED[module, name]


def _images(
    pixels: NDArray[np.uint8], size: int
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    if size == _SIDE:
        yield from enumerate(pixels)
        return
    for index, image in enumerate(pixels.transpose(0, 2, 3, 1)):
        yield index, as_square(Image.fromarray(image), size)
