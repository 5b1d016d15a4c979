"""What stands in a table where nothing was measured, and why nothing was."""

from collections.abc import Mapping

NOT_AVAILABLE = "n/a"
COMPLETE = "nothing is missing"
_BETWEEN = " | "


def join_reasons(reasons: Mapping[str, str]) -> str:
    """One text for all reasons: `column, column: why | column: why`."""
    columns: dict[str, list[str]] = {}
    for column, reason in reasons.items():
        columns.setdefault(reason, []).append(column)
    parts = [f"{', '.join(names)}: {reason}" for reason, names in columns.items()]
    return _BETWEEN.join(parts) or COMPLETE


def split_reasons(text: str) -> dict[str, str]:
    """The reason of each column, from the text that `join_reasons` made."""
    reasons = {}
    for part in text.split(_BETWEEN) if text != COMPLETE else []:
        names, _, reason = part.partition(": ")
        reasons.update(dict.fromkeys(names.split(", "), reason))
    return reasons
