"""The most memory that a piece of work holds."""

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import torch

MEGABYTE = 2**20
PAUSE = 0.002  # seconds between two looks at a process


def peak_memory(work: Callable[[], Any], device: str = "cpu") -> float:
    """Megabytes that a piece of work adds at most to what is held before it.

    Args:
        work: Is called twice; the second time counts, when nothing is set up any more.
        device: A torch device; on a CPU the resident memory of the process is watched.
    """
    work()
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        work()
        torch.cuda.synchronize(device)
        return (torch.cuda.max_memory_allocated(device) - before) / MEGABYTE
    return _resident_growth(work) / MEGABYTE


def _give_back() -> None:
    """Return freed memory, or work that takes it again would seem to need none.

    glibc keeps it otherwise; other systems' allocators are left alone.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _resident_growth(work: Callable[[], Any]) -> int:
    import psutil

    _give_back()
    process = psutil.Process()
    before = most = process.memory_info().rss
    done = threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(PAUSE):
            most = max(most, process.memory_info().rss)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        work()
    finally:
        done.set()
        watcher.join()
    return max(most, process.memory_info().rss) - before
