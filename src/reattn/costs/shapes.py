"""The sizes inside each model that the formulas of this package share."""

from typing import NamedTuple

from reattn.config.models import EncoderSettings, SANSettings

CHANNELS = 3  # of an image
NEIGHBOURS = 9  # of a pixel in SAN, itself among them
SAN_CHANNELS = (1, 4, 8, 16)  # of each stage, in widths of the first
SHARED_BY = 8  # SAN: value channels that one weight channel serves


class AttentionUnit(NamedTuple):
    """Channels inside SAN's attention unit (hszhao/SAN@d88b022 model/san.py).

    Attributes:
        relation: Of query and key.
        middle: Of the values.
        weights: Weight channels, each serving `SHARED_BY` value channels.
        compared: Features that a pair of pixels, or a patch, is compared by.
        hidden: Between the two convolutions that make the weights.
        produced: Out of the second one, at each place that it is applied.
    """

    relation: int
    middle: int
    weights: int
    compared: int
    hidden: int
    produced: int


def attention_unit(operation: str, channels: int) -> AttentionUnit:
    """The unit for maps of `channels`: "pairwise" or "patchwise"."""
    relation, middle = channels // 16, channels // 4
    weights = middle // SHARED_BY
    if operation == "pairwise":
        inside = (relation + 2, relation, weights)
    else:
        inside = ((1 + NEIGHBOURS) * relation, weights, NEIGHBOURS * weights)
    return AttentionUnit(relation, middle, weights, *inside)


class Saved(NamedTuple):
    """Numbers kept once a step, and numbers kept for each image of it."""

    once: int
    each: int


class Stage(NamedTuple):
    """A stage of SAN: its channels and its number of pixels."""

    channels: int
    pixels: int


def san_stages(settings: SANSettings, image_size: int) -> list[Stage]:
    """Every stage of SAN; each begins by halving the map."""
    stages, side = [], image_size
    for multiple in SAN_CHANNELS[: settings.stages]:
        side //= 2
        stages.append(Stage(multiple * settings.width, side**2))
    return stages


class Convolution(NamedTuple):
    """A convolution without bias, followed by a batch normalisation."""

    kernel: int
    inputs: int
    outputs: int
    pixels: int


def resnet_convolutions(width: int, image_size: int) -> list[Convolution]:
    """Every convolution of ResNet18 for small images, in order.

    He et al. (2016), table 1, with a 3x3 first convolution of stride 1 and no
    pooling after it (epfml/attention-cnn@9ffaa30 models/resnet.py). The last of
    them makes as many channels as the classifier reads.
    """
    found = [Convolution(3, CHANNELS, width, image_size**2)]
    entering, side = width, image_size
    for stage in range(4):
        leaving = width * 2**stage
        if stage:
            side = (side + 1) // 2
            found.append(Convolution(1, entering, leaving, side**2))
        found.append(Convolution(3, entering, leaving, side**2))
        found += [Convolution(3, leaving, leaving, side**2)] * 3
        entering = leaving
    return found


def grid_of(settings: EncoderSettings, image_size: int) -> int:
    """Patches along a side of the image."""
    return image_size // settings.patch_size
