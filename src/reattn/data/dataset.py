"""Prepared images, opened read-only by every run."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reattn.data.facts import FACTS, REMEDY, read_facts
from reattn.errors import DataError

IMAGES, LABELS = "images.npy", "labels.npy"


@dataclass(frozen=True)
class Dataset:
    """Images and labels as read-only memory maps.

    Images are uint8 of shape (count, 3, height, width), labels int64 of shape
    (count,). `mean` and `std` are those of a channel on the scale 0 to 1, and
    `info` is all that data.json says.
    """

    train_images: NDArray[np.uint8]
    train_labels: NDArray[np.int64]
    test_images: NDArray[np.uint8]
    test_labels: NDArray[np.int64]
    classes: tuple[str, ...]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    info: dict[str, Any]

    @property
    def image_size(self) -> int:
        """Side of an image in pixels."""
        return self.train_images.shape[-1]


def open_data(folder: Path | str, *, verify_images: bool = False) -> Dataset:
    """Open what `prepare` wrote; nothing is downloaded and nothing is copied.

    Sizes and labels are always checked against data.json.

    Args:
        folder: Where `prepare` wrote.
        verify_images: Also recompute the checksum of all images, which reads them.

    Raises:
        DataError: a file is missing, torn, foreign, or not of this preparation.
    """
    folder = Path(folder)
    info = read_facts(folder)
    images, labels = _open_array(folder / IMAGES), _open_array(folder / LABELS)
    _check_sizes(folder, info, images, labels)
    if array_checksum(labels) != info["labels_checksum"]:
        raise DataError(f"{folder / LABELS} is not of this preparation. {REMEDY}")
    if verify_images and array_checksum(images, labels) != info["checksum"]:
        raise DataError(f"{folder / IMAGES} is not of this preparation. {REMEDY}")
    return _as_dataset(info, images, labels)


def array_checksum(*arrays: NDArray[Any]) -> str:
    """SHA-256 over the elements of contiguous arrays, in hexadecimal."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(memoryview(array).cast("B"))
    return digest.hexdigest()


def _open_array(path: Path) -> NDArray[Any]:
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise DataError(f"{path} is missing. {REMEDY}") from None
    except (OSError, ValueError, EOFError) as fault:
        raise DataError(f"{path} cannot be opened ({fault}). {REMEDY}") from None


def _check_sizes(
    folder: Path, info: dict[str, Any], images: NDArray[Any], labels: NDArray[Any]
) -> None:
    count = info["counts"]["train"] + info["counts"]["test"]
    size = info["image_size"]
    for name, array, dtype, shape in (
        (IMAGES, images, np.uint8, (count, 3, size, size)),
        (LABELS, labels, np.int64, (count,)),
    ):
        if array.dtype != dtype or array.shape != shape:
            raise DataError(
                f"{folder / name} holds {array.dtype} of shape {array.shape}, but "
                f"{FACTS} says {np.dtype(dtype)} of shape {shape}. {REMEDY}"
            )


def _as_dataset(
    info: dict[str, Any], images: NDArray[np.uint8], labels: NDArray[np.int64]
) -> Dataset:
    train = info["counts"]["train"]
    return Dataset(
        train_images=images[:train],
        train_labels=labels[:train],
        test_images=images[train:],
        test_labels=labels[train:],
        classes=tuple(info["classes"]),
        mean=tuple(info["mean"]),
        std=tuple(info["std"]),
        info=info,
    )
