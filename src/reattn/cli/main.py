"""Collects the verbs and turns faults into messages."""

import logging
import sys
import warnings

import typer

from reattn.cli import data, gpu, looking, model, results, studies, training
from reattn.errors import ReattnError

FAULT = 2  # exit status when a message says what to mend

app = typer.Typer(
    name="reattn",
    help="A reproducibility report that rebuilds itself, one step at a time.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (studies, gpu, data, training, model, looking, results):
    module.register(app)


def main() -> None:
    """Run a verb; a fault that has a message is shown without a traceback."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S"
    )
    warnings.showwarning = _log_warning
    try:
        app()
    except ReattnError as fault:
        sys.exit(_report(str(fault)))
    except OSError as fault:
        if fault.filename is None and fault.errno is None:
            raise
        sys.exit(_report(f"{fault.filename or 'a file'}: {fault.strerror}."))


def _log_warning(message: Warning, *place: object) -> None:
    logging.getLogger("reattn").warning("%s", message)


def _report(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return FAULT
