"""One Snakemake a study: a lock that the kernel frees, however its holder ends."""

import logging

from filelock import FileLock, Timeout

from reattn.config.paths import results_folder, shown
from reattn.errors import ReattnError

log = logging.getLogger(__name__)
_held: list[FileLock] = []  # for the life of the process


def occupy(study: str) -> None:
    """Keep other workflows away from a study's results while this process lives.

    Raises:
        ReattnError: another one works on them.
    """
    path = results_folder(study) / "work" / "workflow.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    # A lock that is only a file would outlive a killed process.
    lock = FileLock(path, blocking=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise ReattnError(
            f"Another snakemake works on study {study} ({shown(path)} is locked). Wait "
            "for its end, or end it; nothing needs to be unlocked."
        ) from None
    except (NotImplementedError, OSError) as fault:
        log.warning(
            "%s cannot be locked (%s): start no second snakemake on this study.",
            *(shown(path), fault),
        )
        return
    _held.append(lock)
