"""The memory that a piece of work reads and writes, and how fast this machine copies.

For work that computes little on much data, this is the floor: no element-wise step is
faster than the bytes that it moves.
"""

import statistics
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from reattn.measure.stopwatch import Stopwatch, time_iterations

COPIED = 2**26  # numbers: far more than any cache holds


class TrafficRecorder(TorchDispatchMode):
    """Adds up the bytes of what every operation inside it is given and gives.

    A view moves nothing. A tensor that is expanded counts what it holds in memory.
    """

    def __init__(self) -> None:
        super().__init__()
        self.moved = 0

    def __torch_dispatch__(
        self, operation: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        result = operation(*arguments, **(options or {}))
        if not operation.is_view:
            leaves = tree_leaves((arguments, options, result))
            self.moved += sum(map(_held_bytes, leaves))
        return result


def _held_bytes(leaf: Any) -> int:
    if not isinstance(leaf, torch.Tensor):
        return 0
    sizes = zip(leaf.shape, leaf.stride(), strict=True)
    count = 1
    for size, step in sizes:
        count *= size if step else 1
    return count * leaf.element_size()


def bytes_moved(work: Callable[[], Any]) -> int:
    """Bytes that the operations of a piece of work read and write, each by itself."""
    with TrafficRecorder() as recorder:
        work()
    return recorder.moved


def copy_bandwidth(device: str = "cpu", iterations: int = 7) -> float:
    """Bytes a second that a copy in memory reads and writes together."""
    source = torch.ones(COPIED, device=device)
    target = torch.empty_like(source)
    times = time_iterations(
        lambda: target.copy_(source),
        Stopwatch.of(device),
        iterations=iterations,
        warmup=2,
    )
    return 2 * source.nbytes / statistics.median(times)
