"""Runs the pandoc that pypandoc brings along."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from reattn.errors import ReattnError


def convert(text: str, to: str, sources: Path, options: Sequence[str] = ()) -> str:
    """Convert the report's Markdown; citations are resolved.

    Args:
        text: The Markdown.
        to: pandoc's name of the format.
        sources: The folder with references.bib.
        options: Further options of pandoc.

    Raises:
        ReattnError: pandoc stops or warns, as it does for an unknown citation.
    """
    import pypandoc

    command = [
        *(pypandoc.get_pandoc_path(), "--from", "markdown", "--to", to),
        *("--standalone", "--citeproc", "--fail-if-warnings", "--wrap", "preserve"),
        # Only a table with a line longer than this gets columns of fixed widths.
        *("--columns", "100000"),
        *("--bibliography", str(sources / "references.bib"), *options),
    ]
    done = subprocess.run(
        command, input=text, capture_output=True, encoding="utf-8", env=_environment()
    )
    if done.returncode:
        raise ReattnError(f"pandoc could not make {to}: {done.stderr.strip()}")
    return done.stdout


def _environment() -> dict[str, str]:
    """Variables under which pandoc takes paths for UTF-8, as it takes its input."""
    named = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    is_utf8 = "utf" in next(filter(None, named), "").lower()
    return {**os.environ, **({} if is_utf8 else {"LC_ALL": "C.UTF-8"})}
