"""One lock a card, which the kernel frees with the process that holds it."""

import errno
import hashlib
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakSet

from filelock import FileLock, Timeout

FOR_EVERYONE = 0o777  # without the sticky bit, or Linux refuses other users' files
LOCK_FOR_EVERYONE = 0o666

_names: WeakSet[socket.socket] = WeakSet()  # all that this process holds


class TakenError(Exception):
    """Another process holds the lock."""


@dataclass
class Lock:
    """A lock that is held as long as this object lives.

    Attributes:
        file: The locked file; None for a lock that is only a name.
        name: A socket's name in the kernel, which nobody can delete; None where the
            system has none.
    """

    file: FileLock | None
    name: socket.socket | None

    @classmethod
    def take(cls, path: Path) -> "Lock":
        """Take a lock without waiting.

        Raises:
            TakenError: another process holds it.
            OSError: the file cannot be made or locked.
        """
        file = FileLock(
            path,
            blocking=False,
            mode=LOCK_FOR_EVERYONE,
            thread_local=False,
            # A file that marks itself as a lock would outlive its process.
            fallback_to_soft=False,
            on_acquired=lambda descriptor: _require_in_place(descriptor, path),
        )
        try:
            with open_to_everyone():
                file.acquire()
            return cls(file, _name_in_kernel(str(path.resolve())))
        except Timeout:
            raise TakenError from None
        except TakenError:
            file.release()
            raise

    @classmethod
    def take_name(cls, key: str) -> "Lock":
        """Take a name without a file, among processes that the kernel keeps together.

        Raises:
            TakenError: another process holds it.
        """
        return cls(None, _name_in_kernel(key))

    def release(self) -> None:
        """Let others have it."""
        if self.name is not None:
            self.name.close()
        if self.file is not None:
            self.file.release()


def _require_in_place(descriptor: int, path: Path) -> None:
    """Another process may have deleted the file between its opening and its lock."""
    try:
        in_place = os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        in_place = False
    if not in_place:
        raise TakenError


def _name_in_kernel(key: str) -> socket.socket | None:
    """Take a name that stays taken when a lock file is deleted under its holder.

    Raises:
        TakenError: the name is in use.
    """
    if sys.platform != "linux":
        return None
    digest = hashlib.sha256(os.fsencode(key)).hexdigest()
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0reattn-{digest[:32]}")
    except OSError as fault:
        name.close()
        if fault.errno == errno.EADDRINUSE:
            raise TakenError from None
        return None
    _names.add(name)
    return name


def _forget_in_child() -> None:
    """A copy in a forked child would keep a name when this process is gone."""
    for name in _names:
        name.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)


@contextmanager
def open_to_everyone() -> Iterator[None]:
    """Files and folders made within get the mode that is asked for them."""
    mask = os.umask(0)
    try:
        yield
    finally:
        os.umask(mask)
