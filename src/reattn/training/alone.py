"""One process at a time trains a run."""

import errno
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from reattn.config.paths import shown
from reattn.config.runs import Run
from reattn.errors import ReattnError
from reattn.files import remove_leftovers

FOREVER = -1
WAIT = 60.0  # seconds; a process whose Snakemake was killed ends well before
NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # said by the file system

log = logging.getLogger(__name__)


@contextmanager
def alone(run: Run, *, wait: float = WAIT) -> Iterator[None]:
    """Hold a run's lock, which the kernel frees however this process ends.

    Temporary files that killed processes left among the run's files are removed.
    Where the file system has no locks, a warning says so.

    Args:
        run: The run to train.
        wait: Seconds to wait for another process that trains it.

    Raises:
        ReattnError: another process still trains the run.
    """
    run.work.mkdir(parents=True, exist_ok=True)
    # A lock that is only a file would outlive a killed process.
    lock = FileLock(run.work / "lock", fallback_to_soft=False)
    held = _acquire(lock, run, wait)
    try:
        if held:
            for folder in (run.work, run.folder):
                remove_leftovers(folder)
        yield
    finally:
        lock.release()


def _acquire(lock: FileLock, run: Run, wait: float) -> bool:
    """Whether the lock is held now; False where the file system has none."""
    try:
        _wait(lock, run, wait)
    except OSError as fault:
        if fault.errno not in NO_LOCKS:
            raise
        log.warning(
            "%s cannot be locked (%s): train %s in one process at a time.",
            *(shown(run.work), fault.strerror, run.name),
        )
        return False
    return True


def _wait(lock: FileLock, run: Run, wait: float) -> None:
    try:
        lock.acquire(timeout=0)
        return
    except Timeout:
        if "SLURM_JOB_ID" in os.environ:
            wait = FOREVER  # a job whose Snakemake died may train on for hours
        log.info("Another process trains %s; waiting for it.", run.name)
    try:
        lock.acquire(timeout=wait)
    except Timeout:
        raise ReattnError(
            f"Another process trains {run.name} ({shown(run.work / 'lock')} is "
            "locked). Wait for its end, or end it, then give the same command again."
        ) from None
