"""Cells that are never empty: a value, or n/a with the reason beside it."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reattn.errors import ReattnError
from reattn.files import write_rows
from reattn.reasons import COMPLETE, NOT_AVAILABLE, join_reasons, split_reasons

__all__ = [
    "COMPLETE",
    "NOT_AVAILABLE",
    "Row",
    "is_missing",
    "join_reasons",
    "read_table",
    "split_reasons",
    "write_table",
]

_DIGITS = 6


class Row:
    """One row of a table, with a reason for every cell that has no value."""

    def __init__(self, **cells: Any):
        self._cells: dict[str, Any] = {}
        self._reasons: dict[str, str] = {}
        for column, value in cells.items():
            self.put(column, value, "not recorded")

    def put(self, column: str, value: Any, reason: str) -> None:
        """Set a cell; `reason` is kept only if there is no value."""
        missing = is_missing(value)
        self._cells[column] = NOT_AVAILABLE if missing else _tidy(value)
        self._reasons.pop(column, None)
        if missing:
            self._reasons[column] = _one_line(reason)

    def note(self, column: str, text: str) -> None:
        """Say something of a cell that has a value, beside the reasons."""
        self._reasons[column] = _one_line(text)

    def __getitem__(self, column: str) -> Any:
        return self._cells[column]

    def number(self, column: str) -> float | None:
        """The cell as a number, or None where it is n/a."""
        value = self._cells[column]
        return None if value == NOT_AVAILABLE else float(value)

    def reason(self, column: str) -> str | None:
        """Why a cell is n/a, or None where it has a value."""
        return self._reasons.get(column)

    def as_dict(self) -> dict[str, Any]:
        """All cells, and the reasons of those without a value in `reason`."""
        return {**self._cells, "reason": join_reasons(self._reasons)}


def _one_line(reason: object) -> str:
    return " ".join(str(reason).replace("|", "/").split())


def is_missing(value: Any) -> bool:
    """Whether a value stands for nothing measured."""
    if isinstance(value, float):
        return not math.isfinite(value)
    return value is None or value in ("", NOT_AVAILABLE)


def _tidy(value: Any) -> Any:
    return round(value, _DIGITS) if isinstance(value, float) else value


def write_table(
    path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]
) -> None:
    """Write rows as CSV, whole or not at all; a table without rows keeps its head."""
    filled = [{column: _filled(row.get(column)) for column in columns} for row in rows]
    write_rows(path, filled, columns)


def _filled(cell: Any) -> Any:
    return NOT_AVAILABLE if is_missing(cell) else cell


def read_table(path: Path, verb: str = "tables") -> list[dict[str, str]]:
    """Read a CSV file as text; n/a stays n/a.

    Args:
        path: The file, two folders below that of its study.
        verb: What makes it, for messages.

    Raises:
        ReattnError: the file is missing, torn or foreign.
    """
    remedy = f"`python -m reattn {verb} {path.parent.parent.name}` makes it"
    if not path.exists():
        raise ReattnError(f"{path} is missing; {remedy}.")
    try:
        text = path.read_text(encoding="utf-8")
        rows = list(csv.DictReader(text.splitlines(keepends=True)))
    except (OSError, UnicodeError, csv.Error):
        raise ReattnError(f"{path} is no table; {remedy}.") from None
    # A row that is too short or too long has None as a value or as a key.
    if not text.endswith("\n") or any(None in (*row, *row.values()) for row in rows):
        raise ReattnError(f"{path} is torn; {remedy}.")
    return rows
