"""Random changes of training images, drawn image by image on the run's device.

The steps and their order are those of the authors' configurations: crop, flip,
rotation, colour jitter, all on 8-bit images before normalisation (source:
NishantPrabhu/Self-Attention-and-Convolutions, main/configs/resnet.yaml and
main/utils/data_utils.py). Each step equals torchvision's transform on a Pillow
image with the same parameters; see `geometry` and `colour` for the exactness.
"""

import torch
from torch import Tensor

from reattn.config.variants import Augmentation
from reattn.data.colour import JitterParameters, jitter
from reattn.data.geometry import crop, flip, rotate
from reattn.errors import DataError

PADDING = 4
FLIP_PROBABILITY = 0.5
MAX_DEGREES = 5.0
JITTER_PROBABILITY = 0.8
JITTER_RANGES = ((0.6, 1.4), (0.6, 1.4), (0.6, 1.4), (-0.1, 0.1))


def augment(images: Tensor, kind: Augmentation, generator: torch.Generator) -> Tensor:
    """Change every image by parameters of its own.

    Args:
        images: uint8 of shape (B, 3, H, W); left as they are.
        kind: `flip`, `crop-flip` or `crop-flip-rotation-jitter`.
        generator: The only source of randomness; its device may differ from the
            images'. What it draws depends on `kind` and B alone.

    Returns:
        uint8 of the same shape, on the same device.

    Raises:
        DataError: there is no such kind.
    """
    if kind not in _STEPS:
        raise DataError(f"No augmentation {kind!r}; there are {', '.join(_STEPS)}.")
    for step in _STEPS[kind]:
        images = step(images, generator)
    return images


def random_crop(images: Tensor, generator: torch.Generator) -> Tensor:
    """Shift by up to 4 pixels each way, at any image size; zeros come in."""
    top, left = torch.randint(
        2 * PADDING + 1,
        (2, len(images)),
        generator=generator,
        device=generator.device,
    )
    return crop(images, top, left, PADDING)


def random_flip(images: Tensor, generator: torch.Generator) -> Tensor:
    """Mirror left and right with probability 0.5."""
    return flip(images, _uniform(generator, len(images)) < FLIP_PROBABILITY)


def random_rotation(images: Tensor, generator: torch.Generator) -> Tensor:
    """Rotate by an angle from -5 to 5 degrees."""
    drawn = _uniform(generator, len(images))
    return rotate(images, MAX_DEGREES * (2 * drawn - 1))


def random_jitter(images: Tensor, generator: torch.Generator) -> Tensor:
    """Jitter the colours with probability 0.8, in a random order of operations."""
    return jitter(images, draw_jitter(len(images), generator))


def draw_jitter(count: int, generator: torch.Generator) -> JitterParameters:
    """Parameters of colour jitter (0.4, 0.4, 0.4, 0.1) for `count` images."""
    low, high = torch.tensor(JITTER_RANGES, device=generator.device).T
    return JitterParameters(
        applied=_uniform(generator, count) < JITTER_PROBABILITY,
        order=_uniform(generator, count, 4).argsort(dim=1),
        factors=low + (high - low) * _uniform(generator, count, 4),
    )


def _uniform(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.rand(shape, generator=generator, device=generator.device)


_STEPS = {
    "flip": (random_flip,),
    "crop-flip": (random_crop, random_flip),
    "crop-flip-rotation-jitter": (
        random_crop,
        random_flip,
        random_rotation,
        random_jitter,
    ),
}
