"""How the C library hands out memory to the tensors of this process."""

import ctypes

# Parameters of mallopt, from glibc's malloc.h.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_MMAP_MAX = -4
_NEVER = -1


def keep_freed_memory() -> None:
    """Let freed memory be used again instead of going back to the kernel.

    By default glibc maps every block above 32 MiB anew and unmaps it when it is
    freed, so that the kernel zeroes it page by page each time. Score tensors are that
    large: a training step of an attention model can spend a tenth of its time, an
    inference step a third, on page faults. The process' memory stays at its peak
    instead. Where the C library is another one, nothing happens.
    """
    _set(_MMAP_MAX, 0)
    _set(_TRIM_THRESHOLD, _NEVER)


def give_freed_memory_back(smallest: int) -> None:
    """Let what the process holds follow what its tensors hold, at the cost of time.

    Where the C library is another one than glibc, nothing happens.

    Args:
        smallest: Bytes of a block from which on it goes back when it is freed.
    """
    _set(_MMAP_THRESHOLD, smallest)


def _set(parameter: int, value: int) -> None:
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # macOS, musl, Windows
        return
    mallopt(parameter, value)
