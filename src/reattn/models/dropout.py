"""Dropout on attention probabilities."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_WORD = torch.int16
_VALUES_OF_A_WORD = 2**16


def scaled_mask(like: Tensor, fraction: float) -> Tensor:
    """Independent entries: 0 with probability `fraction`, else the inverse of the rest.

    torch's own mask draws one Bernoulli number at a time on a CPU, which costs more
    than the attention's matrix products. There, 16 random bits are compared with a
    threshold instead, which is eight times faster; the probability is the nearest
    multiple of 2^-16, and the expected mask exactly 1.

    Args:
        like: Gives the shape, type and device.
        fraction: Between 0 and 1, without 1.
    """
    if like.device.type != "cpu":
        return F.dropout(torch.ones_like(like), fraction)
    words = _random_words(like.numel()).view(like.shape)
    dropped = min(round(fraction * _VALUES_OF_A_WORD), _VALUES_OF_A_WORD - 1)
    threshold = dropped - _VALUES_OF_A_WORD // 2
    kept = torch.ge(words, threshold, out=torch.empty_like(like))
    return kept.mul_(_VALUES_OF_A_WORD / (_VALUES_OF_A_WORD - dropped))


def _random_words(count: int) -> Tensor:
    in_one_number = 4
    numbers = torch.empty(-(-count // in_one_number), dtype=torch.int64)
    return numbers.random_(-(2**63), None).view(_WORD)[:count]


class AttentionDropout(nn.Module):
    """Dropout of every entry for itself; torch.nn.Dropout, faster on a CPU."""

    def __init__(self, fraction: float):
        super().__init__()
        self.fraction = fraction

    def extra_repr(self) -> str:
        return f"fraction={self.fraction}"

    @property
    def active(self) -> bool:
        """Whether a call changes anything."""
        return self.training and self.fraction > 0

    def forward(self, probabilities: Tensor) -> Tensor:
        """The probabilities, some of them zero, in training mode."""
        if not self.active:
            return probabilities
        if probabilities.device.type != "cpu":
            return F.dropout(probabilities, self.fraction)
        return probabilities * self.mask(probabilities)

    def mask(self, probabilities: Tensor) -> Tensor:
        """What the probabilities are multiplied by."""
        return scaled_mask(probabilities, self.fraction)


class HeldDropout(AttentionDropout):
    """Dropout whose masks can be kept from one forward pass to the next.

    Args:
        fraction: Probability of a zero.
        calls: Calls in one forward pass of the model; each has its own mask.
    """

    def __init__(self, fraction: float, calls: int = 1):
        super().__init__(fraction)
        self.calls = calls
        self._masks: list[Tensor] | None = None
        self._call = 0

    def forward(self, probabilities: Tensor) -> Tensor:
        """The probabilities, some of them zero, in training mode."""
        if not self.active:
            return probabilities
        return probabilities * self.mask(probabilities)

    def mask(self, probabilities: Tensor) -> Tensor:
        """A new mask, or while masks are held that of this call."""
        if self._masks is None:
            return scaled_mask(probabilities, self.fraction)
        call, self._call = self._call, (self._call + 1) % self.calls
        if call == len(self._masks):
            self._masks.append(scaled_mask(probabilities, self.fraction))
        return self._masks[call]

    def hold(self) -> None:
        """Draw masks once and use them again until `release`."""
        self._masks, self._call = [], 0

    def release(self) -> None:
        """Draw new masks again."""
        self._masks, self._call = None, 0


@contextmanager
def one_dropout_mask(model: nn.Module) -> Iterator[None]:
    """Within it, masks that all images share are drawn once and used again.

    The quadratic models drop the same probabilities for a whole batch. Inside this
    context the micro-batches of one step share them too. Other models do not change.
    """
    held = [module for module in model.modules() if isinstance(module, HeldDropout)]
    for module in held:
        module.hold()
    try:
        yield
    finally:
        for module in held:
            module.release()
