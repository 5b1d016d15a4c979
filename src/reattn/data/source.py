"""What every source of images hands to the prepare step."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SourceImages:
    """The images of one source, training images before test images.

    Attributes:
        classes: Names of the classes; a label is an index into them.
        labels: Labels of all images, int64.
        train_count: How many of them are training images.
        images: Pairs (index, image); an image is uint8 of shape (3, H, W). Each
            index comes once, in any order.
        order: How the images are ordered and split, in words.
        treatment: How an image was brought to its form, in words.
        treated: How many images each rule touched; complete once `images` ran out.
        archive_checksum: Of the archive, `<algorithm>:<digest>`, if there is one.
    """

    classes: tuple[str, ...]
    labels: NDArray[np.int64]
    train_count: int
    images: Iterable[tuple[int, NDArray[np.uint8]]]
    order: str
    treatment: str
    treated: Counter[str] = field(default_factory=Counter)
    archive_checksum: str | None = None

    def facts(self) -> dict[str, Any]:
        """What `data.json` says of the source's own rules."""
        return {
            "order": self.order,
            "treatment": self.treatment,
            "treated": dict(sorted(self.treated.items())),
            "archive_checksum": self.archive_checksum,
        }
