"""How this process ends: when told to, when left alone, and however long it hangs."""

import logging
import os
import signal
import threading
import time
from types import FrameType

from reattn.errors import ReattnError

PARENT = "REATTN_PARENT"  # names the process whose end is the end of this one
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
POLL = 2.0  # seconds between two looks at the parent
GRACE = 10.0  # seconds that a process which was told to end may take to clean up
LINGERING = 5.0  # seconds that a process may take to end when its work is done
FIRST_STATUS = 128  # exit status of a process that signal n ended: 128 + n

log = logging.getLogger(__name__)


class Ended(SystemExit):
    """A signal told this process to end.

    Raised in the main thread, so that what is half written is cleaned up.

    Attributes:
        name: The signal's name.
    """

    def __init__(self, number: int):
        super().__init__(FIRST_STATUS + number)
        self.name = signal.Signals(number).name


def end_on_signals() -> None:
    """Raise `Ended` on SIGTERM, SIGHUP and SIGINT from now on.

    Those that are ignored already, as SIGHUP is under nohup, stay ignored. A process
    that is still there `GRACE` seconds later is ended at once.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)  # one is enough; the others may come too
    end_within(GRACE, FIRST_STATUS + number)
    raise Ended(number)


def end_within(seconds: float, status: int) -> None:
    """End this process after some time, if it has not ended by itself.

    Whatever hangs by then, such as another library's clean-up, is left behind.

    Args:
        seconds: How long to wait.
        status: The exit status.
    """
    timer = threading.Timer(seconds, os._exit, [status])
    timer.daemon = True
    timer.start()


def end_with_parent() -> None:
    """End this process soon after the one that $REATTN_PARENT names; without it, not.

    Snakemake that is killed leaves its jobs running, with their cards and locks.

    Raises:
        ReattnError: the variable holds no process id.
    """
    given = os.environ.get(PARENT)
    if not given:
        return
    if not given.isascii() or not given.isdigit() or not 0 < int(given) < 2**31:
        raise ReattnError(
            f"{PARENT}={given} is no process id. Unset it: the workflow sets it itself."
        )
    threading.Thread(target=_follow, args=[int(given)], daemon=True).start()


def _follow(parent: int) -> None:
    """Wait for the end of a process, then end this one."""
    import psutil

    try:
        watched = psutil.Process(parent)
        # A process that is younger than its child has the id of one that is gone.
        there = watched.create_time() <= psutil.Process().create_time()
        while there and watched.is_running():
            if watched.status() == psutil.STATUS_ZOMBIE:
                break
            time.sleep(POLL)
    except psutil.NoSuchProcess:
        pass
    except psutil.Error as fault:
        log.warning("Process %d cannot be watched: %s", parent, fault)
        return
    log.warning("Process %d, which started this one, is gone.", parent)
    end_within(GRACE, FIRST_STATUS + signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)
