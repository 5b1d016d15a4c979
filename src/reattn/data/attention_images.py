"""The pictures that the attention figures show."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from reattn.data.dataset import Dataset
from reattn.data.images import as_square, decode_image
from reattn.errors import DataError

_SAMPLE = "sample:"
_SAMPLES = ("china.jpg", "flower.jpg")


def load_attention_images(
    images: Sequence[int | str], dataset: Dataset | None, image_size: int
) -> tuple[list[str], NDArray[np.uint8]]:
    """Load test images, image files and scikit-learn's photographs.

    Args:
        images: Indices of test images, paths of image files, or
            `sample:china.jpg` and `sample:flower.jpg`.
        dataset: Where indices point; may be None if there are none.
        image_size: Side in pixels; pictures of another size are cut to their
            central square and resized.

    Returns:
        A name for each, and uint8 of shape (count, 3, image_size, image_size).

    Raises:
        DataError: an index, a file or a sample that is not there.
    """
    loaded = [_load(image, dataset, image_size) for image in images]
    return [name for name, _ in loaded], np.stack([pixels for _, pixels in loaded])


def _load(
    image: int | str, dataset: Dataset | None, size: int
) -> tuple[str, NDArray[np.uint8]]:
    if isinstance(image, int):
        return _test_image(image, dataset, size)
    if image.startswith(_SAMPLE):
        return _sample(image.removeprefix(_SAMPLE), size)
    path = Path(image).expanduser()
    if not path.is_file():
        raise DataError(f"The attention image {image} is missing.")
    pixels, _ = decode_image(path.read_bytes(), size, image)
    return path.name, pixels


def _test_image(
    index: int, dataset: Dataset | None, size: int
) -> tuple[str, NDArray[np.uint8]]:
    count = 0 if dataset is None else len(dataset.test_images)
    if dataset is None or not 0 <= index < count:
        raise DataError(
            f"The attention image {index} is missing: there are {count} test images, "
            "counted from 0."
        )
    pixels = Image.fromarray(dataset.test_images[index].transpose(1, 2, 0))
    label = dataset.classes[int(dataset.test_labels[index])]
    return f"test image {index} ({label})", as_square(pixels, size)


def _sample(name: str, size: int) -> tuple[str, NDArray[np.uint8]]:
    if name not in _SAMPLES:
        raise DataError(
            f"There is no photograph {_SAMPLE}{name}; there are "
            f"{' and '.join(_SAMPLE + known for known in _SAMPLES)}."
        )
    from sklearn.datasets import load_sample_image

    return name, as_square(Image.fromarray(load_sample_image(name)), size)
