"""Text that is Markdown already, and text that must first be made harmless."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#+!|$~^@\"'])")
_LEADING = re.compile(r"^(\d+)([.)])")


class Markdown(str):
    """Text that a template may print as it is."""

    __slots__ = ()


def escape(value: object) -> Markdown:
    """Text in which Markdown sees no markup, whatever it holds."""
    if isinstance(value, Markdown):
        return value
    text = _SPECIAL.sub(r"\\\1", " ".join(str(value).split()))
    return Markdown(_LEADING.sub(r"\1\\\2", text))


def code(value: object) -> Markdown:
    """Text as code; a tick inside it ends nothing."""
    text = " ".join(str(value).split())
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return Markdown(f"{fence}{space}{text}{space}{fence}")


def listing(values: Iterable[object], last: str = "and") -> Markdown:
    """`a`, `a and b`, or `a, b and c`."""
    parts = [escape(value) for value in values]
    if len(parts) < 2:
        return Markdown("".join(parts))
    return Markdown(f"{', '.join(parts[:-1])} {last} {parts[-1]}")


def seeds_told(seeds: Sequence[int]) -> Markdown:
    """`seed 0`, `seeds 0, 1 and 5`, or `seeds 0 to 7` where none is left out."""
    if len(seeds) == 1:
        return Markdown(f"seed {seeds[0]}")
    first, last = min(seeds), max(seeds)
    if len(seeds) > 3 and sorted(seeds) == list(range(first, last + 1)):
        return Markdown(f"seeds {first} to {last}")
    return Markdown(f"seeds {listing(seeds)}")


def labels(names: Iterable[object]) -> Markdown:
    """Labels of models as they stand in a sentence, in italics."""
    return listing(Markdown(f"*{escape(name)}*") for name in names)


def sentence(text: object) -> Markdown:
    """Text that begins with a capital letter and ends with a full stop."""
    shown = escape(text)
    ending = "" if shown.endswith((".", "!", "?")) else "."
    return Markdown(shown[:1].upper() + shown[1:] + ending)


def spans(numbers: Iterable[int], letter: str) -> list[str]:
    """Names of a letter and a number; three or more in a row become `D5 to D9`."""
    placed = enumerate(sorted(numbers))
    rows = [[n for _, n in row] for _, row in groupby(placed, lambda x: x[1] - x[0])]
    return [
        part
        for row in rows
        for part in (
            [f"{letter}{row[0]} to {letter}{row[-1]}"]
            if len(row) > 2
            else [f"{letter}{number}" for number in row]
        )
    ]
