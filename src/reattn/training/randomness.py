"""Seeds for every purpose, derived from the run's one seed.

Each epoch seeds its generators anew, so a resumed run needs no stored generator
state to draw what an unbroken one would have drawn.
"""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def derived_seed(seed: int, purpose: str, epoch: int = 0) -> int:
    """A seed for one purpose and epoch, independent of all others.

    Args:
        seed: The run's seed.
        purpose: For example "weights", "order" or "augmentation".
        epoch: The epoch, where the purpose recurs.
    """
    sequence = np.random.SeedSequence([seed, zlib.crc32(purpose.encode()), epoch])
    return int(sequence.generate_state(1, np.uint32)[0])


def generator_for(
    seed: int, purpose: str, epoch: int = 0, device: torch.device | str = "cpu"
) -> torch.Generator:
    """A fresh generator on a device for one purpose and epoch."""
    generator = torch.Generator(device)
    generator.manual_seed(derived_seed(seed, purpose, epoch))
    return generator


@contextmanager
def own_randomness(seed: int) -> Iterator[None]:
    """Seed torch's global streams within the block; put them back after it."""
    in_use = torch.cuda.is_available() and torch.cuda.is_initialized()
    cards = [torch.cuda.current_device()] if in_use else []
    with torch.random.fork_rng(devices=cards):
        torch.manual_seed(seed)
        yield


def training_order(seed: int, epoch: int, images: int, epoch_images: int) -> np.ndarray:
    """The indices of the training images that an epoch shows, in order.

    All images, shuffled anew each epoch; or, if an epoch shows fewer, the next
    part of a shuffled whole, so that every image is seen before one is repeated.

    Args:
        seed: The run's seed.
        epoch: From 1.
        images: Training images in all.
        epoch_images: How many of them an epoch shows.
    """
    first = (epoch - 1) * epoch_images
    positions = np.arange(first, first + epoch_images)
    passes, places = np.divmod(positions, images)
    indices = np.empty(epoch_images, dtype=np.int64)
    for number in np.unique(passes):
        generator = np.random.default_rng(derived_seed(seed, "order", int(number)))
        chosen = passes == number
        indices[chosen] = generator.permutation(images)[places[chosen]]
    return indices
