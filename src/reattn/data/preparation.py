"""The one step that turns a source of images into files that every run opens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reattn.config.studies import DataSettings
from reattn.data.dataset import IMAGES, LABELS, array_checksum
from reattn.data.digest import source_digest
from reattn.data.facts import FACTS
from reattn.data.source import SourceImages
from reattn.errors import DataError
from reattn.files import reserve, write_json, written_whole

_CHUNK = 4096


def prepare(
    settings: DataSettings,
    destination: Path | str,
    path: Path | str | None = None,
    check: Callable[[int, int], None] | None = None,
) -> None:
    """Write images.npy, labels.npy and data.json, or nothing.

    images.npy holds uint8 of shape (count, 3, size, size), training images before
    test images; labels.npy holds int64 of shape (count,).

    Args:
        settings: The `data:` block of a study.
        destination: Folder to write into.
        path: Folder or archive of the source; wins over `settings.path`.
        check: Called with the numbers of training and test images before anything
            is written; what it raises leaves the folder as it was.

    Raises:
        DataError: the source is missing, broken or refused.
    """
    destination = Path(destination)
    path = path or settings.path
    source = _open_source(settings, path)
    if check:
        check(source.train_count, len(source.labels) - source.train_count)
    with (
        written_whole(destination / FACTS) as facts_file,
        written_whole(destination / LABELS) as labels_file,
        written_whole(destination / IMAGES) as images_file,
    ):
        images = _write_images(images_file, source, settings.image_size)
        with labels_file.open("wb") as file:
            np.save(file, source.labels, allow_pickle=False)
        write_json(facts_file, _facts(settings, source, images, path))
        # A kill between the renames must not leave old facts beside new images.
        (destination / FACTS).unlink(missing_ok=True)


def _open_source(settings: DataSettings, path: Path | str | None) -> SourceImages:
    size = settings.image_size
    if settings.source == "digits":
        from reattn.data.digits import read_digits

        return read_digits(size)
    if path is None:
        raise DataError(
            f"The data source {settings.source} needs a folder or an archive: name it "
            "with --data-path PATH. CIFAR-10's own archive comes with: python -m "
            "reattn download cifar-10-python.tar.gz"
        )
    path = Path(path).expanduser()
    if not path.exists():
        raise DataError(f"{path} is missing: there is no such folder or archive.")
    if settings.source == "cifar10":
        from reattn.data.cifar10 import read_cifar10

        return read_cifar10(path, size)
    from reattn.data.folder import read_image_folder

    return read_image_folder(path, size)


def _write_images(path: Path, source: SourceImages, size: int) -> NDArray[np.uint8]:
    """Fill a memory-mappable file in place, since archives come in their own order."""
    shape = (len(source.labels), 3, size, size)
    images = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=shape)
    reserve(path)
    written = np.zeros(len(images), dtype=bool)
    for index, image in source.images:
        images[index] = image
        written[index] = True
    if not written.all():
        raise DataError(
            f"{int((~written).sum())} images went missing while they were read: the "
            "source changed meanwhile. Prepare the data again."
        )
    images.flush()
    return images


def _facts(
    settings: DataSettings,
    source: SourceImages,
    images: NDArray[np.uint8],
    path: Path | str | None,
) -> dict[str, Any]:
    mean, std = channel_statistics(images[: source.train_count])
    mean, std = settings.mean or mean, settings.std or std
    if min(std) <= 0:
        raise DataError(
            f"The channel deviations {tuple(std)} must be positive: set `std:` in the "
            "study's `data:` block."
        )
    train = source.train_count
    return {
        "source": settings.source,
        "note": settings.note,
        "classes": list(source.classes),
        "counts": {"train": train, "test": len(source.labels) - train},
        "image_size": settings.image_size,
        "mean": list(mean),
        "std": list(std),
        **source.facts(),
        "source_digest": source_digest(path) if path else None,
        "checksum": array_checksum(images, source.labels),
        "labels_checksum": array_checksum(source.labels),
    }


def channel_statistics(
    images: NDArray[np.uint8],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation of each channel on the scale 0 to 1.

    Sums are whole numbers, so that the result does not depend on their order.

    Args:
        images: uint8 of shape (count, channels, height, width).
    """
    total = np.zeros(images.shape[1], dtype=np.int64)
    squares = np.zeros_like(total)
    for start in range(0, len(images), _CHUNK):
        chunk = images[start : start + _CHUNK].astype(np.int64)
        total += chunk.sum(axis=(0, 2, 3))
        squares += (chunk * chunk).sum(axis=(0, 2, 3))
    count = images.size // images.shape[1]
    mean = total / count
    std = np.sqrt(np.maximum(squares / count - mean**2, 0))
    return tuple((mean / 255).tolist()), tuple((std / 255).tolist())
