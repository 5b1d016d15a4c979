"""scikit-learn's handwritten digits: real images that need no network."""

import numpy as np
from PIL import Image

from reattn.data.images import as_square
from reattn.data.source import SourceImages

_TEST_COUNT = 360
_WHITE = 16  # The data set's grey levels run from 0 to 16.


def read_digits(size: int) -> SourceImages:
    """The 1,797 digits, 8x8 pixels each, as three equal channels of `size` pixels.

    Source: scikit-learn's `load_digits`, the test part of the UCI "Optical
    Recognition of Handwritten Digits" data set. The split is fixed and holds
    the share of each class.
    """
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    train, test = train_test_split(
        np.arange(len(digits.target)),
        test_size=_TEST_COUNT,
        stratify=digits.target,
        random_state=0,
    )
    order = np.concatenate([train, test])
    pixels = np.round(digits.images * (255 / _WHITE)).astype(np.uint8)
    return SourceImages(
        classes=tuple(str(name) for name in digits.target_names),
        labels=digits.target[order].astype(np.int64),
        train_count=len(train),
        images=((index, _resized(pixels[i], size)) for index, i in enumerate(order)),
        order=f"stratified split with {_TEST_COUNT} test images, fixed seed",
        treatment="8x8 grey images, levels 0 to 16 scaled to 0 to 255, resized with "
        "Pillow's bilinear filter, three equal channels",
    )


def _resized(pixels: np.ndarray, size: int) -> np.ndarray:
    return as_square(Image.fromarray(pixels).convert("RGB"), size)
