"""Running a model on images and keeping what it attends with."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from reattn.models.recording import Recording, evaluating, record_attention


class Looker:
    """Shows uint8 images to a model, in evaluation mode.

    Args:
        model: Left as it was; so is torch's global stream.
        mean: Channel means that it was trained with, in [0, 1].
        std: Channel standard deviations, likewise.
        seed: Of whatever the model draws, the same at every look.
    """

    def __init__(
        self, model: nn.Module, mean: Sequence[float], std: Sequence[float], seed: int
    ):
        self._model, self._seed = model, seed
        self._weight = next(model.parameters())
        self._mean, self._std = (
            torch.tensor(list(channel), dtype=torch.float32)[:, None, None]
            for channel in (mean, std)
        )

    def __call__(self, images: np.ndarray) -> Recording:
        """The attention of every call, for images (n, 3, H, W)."""
        pixels = torch.from_numpy(np.ascontiguousarray(images)).float() / 255
        normalised = ((pixels - self._mean) / self._std).to(self._weight)
        device = self._weight.device
        with (
            torch.random.fork_rng([device] if device.type == "cuda" else []),
            record_attention(self._model) as recording,
            evaluating(self._model),
        ):
            torch.manual_seed(self._seed)
            self._model(normalised)
        return recording


def has_attention(model: nn.Module) -> bool:
    """Whether a model attends: a convolutional one does not."""
    return any(hasattr(module, "recorder") for module in model.modules())


def same_attention(first: Recording, second: Recording) -> bool:
    """Whether two looks saw exactly the same attention."""
    return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def is_local(recording: Recording) -> bool:
    """Whether keys are a neighbourhood, and not the grid of the queries."""
    return any(call.shape[2:4] != call.shape[4:6] for call in recording)


def is_normalised(recording: Recording) -> bool:
    """Whether a softmax made the weights: then none is negative, and they add up.

    Attention over a grid always is; a class token may take a part of it.
    """
    if not is_local(recording):
        return True
    return all(
        bool((call >= 0).all()) and bool(((call.sum((-2, -1)) - 1).abs() < 1e-4).all())
        for call in recording
    )
