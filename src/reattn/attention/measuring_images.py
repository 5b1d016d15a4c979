"""Attention metrics of one model over many images, a small batch at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from reattn.attention.looking import Looker, is_local, is_normalised, same_attention
from reattn.attention.metric_files import NO_SOFTMAX
from reattn.attention.metrics import (
    elsewhere,
    entropy,
    layer_differences,
    mean_distance,
    over_image_keys,
    self_mass,
)
from reattn.attention.metrics_shifts import best_shift, shares_by_shift
from reattn.attention.metrics_symmetry import asymmetry
from reattn.models.recording import Recording

MOST_WEIGHTS = 2**20  # of all layers, heads, queries and keys of a batch


@dataclass
class Layer:
    """What was measured of one attention call, image by image.

    Attributes:
        values: Metric to tensors (images, heads), in double precision, or to the
            reason that there are none.
        shares: Attention by shift, (images, heads, rows, columns) in single
            precision; empty without a softmax.
        heads: How many heads, or channels, it has.
    """

    heads: int
    values: dict[str, list[Tensor] | str] = field(default_factory=dict)
    shares: list[Tensor] = field(default_factory=list)

    def by_image(self, metric: str) -> Tensor | str:
        """(images, heads) of a metric, or (images,) of layer_difference."""
        found = self.values.get(metric, [])
        return found if isinstance(found, str) else torch.cat(found)

    def at_best_shift(self) -> tuple[Tensor, Tensor]:
        """Each head's share at the shift that holds most over all images.

        Returns:
            Shares (images, heads), and shifts (heads, 2).
        """
        shares = torch.cat(self.shares)
        _, shifts = best_shift(shares.double().mean(0))
        rows, columns = shares.shape[-2:]
        row, column = (shifts + torch.tensor([rows // 2, columns // 2])).unbind(-1)
        heads = torch.arange(self.heads)
        return shares[:, heads, row, column].double(), shifts


@dataclass(frozen=True)
class Measured:
    """A model's layers, or why nothing could be measured.

    Attributes:
        layers: In the order of the calls.
        images: How many images the metrics stand for.
        independent: Whether they are of one image, since none changes the attention.
        reason: Why layers have no values, or None.
    """

    layers: list[Layer]
    images: int
    independent: bool = False
    reason: str | None = None


def measure_images(look: Looker, images: np.ndarray) -> Measured:
    """The attention metrics of a model for every image.

    Args:
        look: Shows images to the model.
        images: uint8 (n, 3, H, W). If attention is the same for the first of them
            and its negative, it is measured once and counts n times.

    Returns:
        Its layers. Without a softmax they have heads but no values.
    """
    first = look(images[:1])
    layers = [Layer(call.shape[1]) for call in first]
    if not is_normalised(first):
        return Measured(layers, len(images), reason=NO_SOFTMAX)
    independent = same_attention(first, look(255 - images[:1]))
    shown = images[:1] if independent else images
    size = images.shape[2:]
    for recording in _recordings(look, first, shown):
        _add(layers, recording, size, is_local(first))
    return Measured(layers, len(images), independent)


def _recordings(
    look: Looker, first: Recording, images: np.ndarray
) -> Iterator[Recording]:
    """The first image's recording, and then batches of what follows it."""
    yield first
    weights = sum(call.numel() for call in first)
    batch = max(1, MOST_WEIGHTS // weights)
    for start in range(1, len(images), batch):
        yield look(images[start : start + batch])


def _add(
    layers: Sequence[Layer], recording: Recording, size: Sequence[int], local: bool
) -> None:
    """Measure a batch of images in every layer."""
    calls = [over_image_keys(call.double().cpu()) for call in recording]
    for layer, attention in zip(layers, calls, strict=True):
        patch = [size[0] / attention.shape[2], size[1] / attention.shape[3]]
        found = {
            "self_mass": self_mass(attention, local=local),
            "entropy": entropy(attention),
            "distance": mean_distance(attention, patch, local=local),
            "elsewhere": elsewhere(attention, local=local),
        }
        for metric, values in found.items():
            layer.values.setdefault(metric, []).append(values)
        layer.shares.append(shares_by_shift(attention, local=local).float())
    _add_asymmetry(layers, recording, local)
    _add_differences(layers, calls)


def _add_asymmetry(layers: Sequence[Layer], recording: Recording, local: bool) -> None:
    for layer, attention in zip(layers, recording, strict=True):
        if local:
            layer.values["asymmetry"] = "defined for attention over the whole map alone"
        else:
            layer.values.setdefault("asymmetry", []).append(asymmetry(attention.cpu()))


def _add_differences(layers: Sequence[Layer], calls: Sequence[Tensor]) -> None:
    for layer, apart in zip(layers, layer_differences(calls), strict=True):
        if apart is None:
            layer.values["layer_difference"] = "no other layer has a map of this size"
        else:
            layer.values.setdefault("layer_difference", []).append(apart)
