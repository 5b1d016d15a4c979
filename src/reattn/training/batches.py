"""Batches of images on the device that trains."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from reattn.data.pixels import normalise


@dataclass(frozen=True)
class Images:
    """Images and labels in memory, on one device.

    Attributes:
        pixels: (images, 3, height, width), uint8.
        labels: (images,), int64.
        mean: Channel means, of pixels scaled to 0..1.
        std: Channel standard deviations.
    """

    pixels: torch.Tensor
    labels: torch.Tensor
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def normalised(self, pixels: torch.Tensor) -> torch.Tensor:
        """Pixels as the models take them."""
        return normalise(pixels, self.mean, self.std)

    def select(self, indices: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Raw pixels and labels of some images."""
        chosen = torch.as_tensor(indices, device=self.labels.device)
        return self.pixels[chosen], self.labels[chosen]

    def batches(
        self, order: np.ndarray, batch: int
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Normalised images and labels, a batch at a time, the last one smaller."""
        for first in range(0, len(order), batch):
            pixels, labels = self.select(order[first : first + batch])
            yield self.normalised(pixels), labels
