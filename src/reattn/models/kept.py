"""Tensors made of weights, kept from one forward pass to the next while none learns.

Products of weight matrices, normalisations folded into them, and probabilities that
depend on no image are the same for every batch until a weight changes.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

Made = TypeVar("Made")


class _State(NamedTuple):
    """What tells that a tensor is what it was; in-place changes raise the version."""

    version: int
    device: torch.device
    dtype: torch.dtype
    address: int


class _Entry(NamedTuple):
    """What was made, and of what."""

    sources: Sequence[Tensor]
    states: list[Any]
    storages: list[torch.UntypedStorage]
    made: Any


class Kept:
    """What a function made of some tensors, until one of them changes.

    While gradients are enabled nothing is kept and nothing kept is used. It is no
    part of a state_dict, of a copy or of a pickled module. What torch does not count as
    a change is not seen: writing through `parameter.data` or through numpy. A pass with
    gradients, or `forget`, makes all anew.
    """

    def __init__(self) -> None:
        self._entry: _Entry | None = None

    def forget(self) -> None:
        """Make it anew the next time."""
        self._entry = None

    def get(self, make: Callable[[], Made], sources: Sequence[Tensor]) -> Made:
        """What `make` gives, from before if all sources are the same and unchanged.

        Args:
            make: A function or a method, which depends on the sources and on nothing
                else that changes. It makes tensors, or nested tuples of them.
            sources: Every parameter and buffer that `make` reads.

        Returns:
            What is kept with mixed precision has its type and was made in full
            precision.
        """
        states = None if torch.is_grad_enabled() else _states(sources)
        if states is None:
            self._entry = None
            return make()
        states.append(getattr(make, "__func__", make))
        # Read and written once: other threads may replace it meanwhile.
        entry = self._entry
        if entry is None or states != entry.states or not _same(sources, entry.sources):
            # Held storages give their addresses to no other weights.
            storages = [one.untyped_storage() for one in sources]
            made = _make_once(make, sources[0])
            entry = self._entry = _Entry(sources, states, storages, made)
        return entry.made

    def __deepcopy__(self, memo: dict) -> "Kept":
        return Kept()

    def __reduce__(self) -> tuple:
        return Kept, ()


def _states(sources: Sequence[Tensor]) -> list[Any] | None:
    """The sources' states; None if they have none, as within torch.func."""
    if not sources:  # a replica of nn.DataParallel
        return None
    device = sources[0].device.type
    if torch.compiler.is_compiling() or not torch.amp.is_autocast_available(device):
        return None
    try:
        states = [
            _State(one._version, one.device, one.dtype, one.data_ptr())
            for one in sources
        ]
    except RuntimeError:  # a tensor without a version or without an address
        return None
    return [_mixed_precision(sources[0].device), *states]


def _same(sources: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    pairs = zip(sources, others, strict=False)
    return len(sources) == len(others) and all(a is b for a, b in pairs)


def _mixed_precision(device: torch.device) -> torch.dtype | None:
    if not torch.is_autocast_enabled(device.type):
        return None
    return torch.get_autocast_dtype(device.type)


def _make_once(make: Callable[[], Made], source: Tensor) -> Made:
    lower = _mixed_precision(source.device)
    with torch.autocast(source.device.type, enabled=False):
        made = make()
    return made if lower is None else tree_map_only(Tensor, lambda t: t.to(lower), made)
