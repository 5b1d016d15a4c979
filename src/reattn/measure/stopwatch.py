"""Times the iterations of some work on a device.

A device that works on its own returns from a call before the work is done. Every
iteration is therefore timed from one synchronisation of the device to the next.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch

FEWEST_ITERATIONS = 5


@dataclass(frozen=True)
class Stopwatch:
    """A clock in seconds, and what waits until the device has done its work."""

    clock: Callable[[], float]
    synchronise: Callable[[], None]

    @classmethod
    def of(cls, device: str) -> "Stopwatch":
        """The stopwatch of a torch device; a CPU's calls return when done."""
        if torch.device(device).type == "cuda":
            return cls(time.perf_counter, partial(torch.cuda.synchronize, device))
        return cls(time.perf_counter, lambda: None)


def time_iterations(
    work: Callable[[], object],
    stopwatch: Stopwatch,
    *,
    iterations: int,
    warmup: int,
    max_seconds: float | None = None,
) -> list[float]:
    """The seconds of each timed iteration of `work`, the device's part included."""
    seconds: list[float] = []
    with _no_garbage_collection():
        for _ in range(warmup):
            work()
        while len(seconds) < iterations and not _spent(seconds, max_seconds):
            seconds.append(_time_once(work, stopwatch))
    return seconds


def _time_once(work: Callable[[], object], stopwatch: Stopwatch) -> float:
    stopwatch.synchronise()
    start = stopwatch.clock()
    work()
    stopwatch.synchronise()
    return stopwatch.clock() - start


def _spent(seconds: list[float], max_seconds: float | None) -> bool:
    if max_seconds is None or len(seconds) < FEWEST_ITERATIONS:
        return False
    return sum(seconds) >= max_seconds


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A collection in the middle of an iteration would be timed with it."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
