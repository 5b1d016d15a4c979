"""What becomes of messages that nobody can take any more."""

import os
from typing import TextIO


def drop_unwritten(stream: TextIO) -> None:
    """Drop what a stream still holds and cannot write, as to a full disk.

    Python would try again as it ends, and end with status 120 although all work is
    done and kept.
    """
    try:
        stream.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
