"""Collects the verbs and turns faults into messages."""

import contextlib
import logging
import shlex
import sys
import warnings

import typer

from reattn import processes
from reattn.cli import (
    benching,
    claims,
    constructed,
    data,
    deposit,
    gpu,
    looking,
    model,
    new_variant,
    results,
    studies,
    training,
)
from reattn.cli.streams import drop_unwritten
from reattn.errors import ReattnError

FAULT = 2  # exit status when a message says what to mend

app = typer.Typer(
    name="reattn",
    help="A reproducibility report that rebuilds itself, one step at a time.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (
    *(
        studies,
        new_variant,
        gpu,
        data,
        training,
        model,
        benching,
        constructed,
        looking,
        results,
        claims,
        deposit,
    ),
):
    module.register(app)


def main() -> None:
    """Run a verb; a fault that has a message is shown without a traceback."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S"
    )
    logging.raiseExceptions = False  # a full disk takes no log, and ends no training
    warnings.showwarning = _log_warning
    status = 1  # of a fault that nobody foresaw, which shows its traceback
    try:
        status = _run()
    finally:
        processes.end_within(processes.LINGERING, status)
    drop_unwritten(sys.stderr)  # messages; what a verb prints is more than that
    sys.exit(status)


def _run() -> int:
    """Run the verb that the command line names; its exit status."""
    try:
        processes.end_on_signals()
        processes.end_with_parent()
        app()
    except ReattnError as fault:
        return _report(str(fault))
    except processes.Ended as end:
        return _report(_interruption(end.name), end.code)
    except SystemExit as end:
        return end.code or 0
    except OSError as fault:
        if fault.filename is None and fault.errno is None:
            raise
        return _report(f"{fault.filename or 'a file'}: {fault.strerror}.")
    return 0


def _interruption(signal: str) -> str:
    verb, *_ = [*sys.argv[1:], ""]
    again = (
        "goes on after the last finished epoch" if verb == "train" else "does it anew"
    )
    command = shlex.join(["reattn", *sys.argv[1:]])
    return f"{command} was ended by {signal}; the same command {again}."


def _log_warning(message: Warning, *place: object) -> None:
    logging.getLogger("reattn").warning("%s", message)


def _report(message: str, status: int = FAULT) -> int:
    with contextlib.suppress(OSError):
        print(f"error: {message}", file=sys.stderr)
    return status
