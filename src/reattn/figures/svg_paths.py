"""Paths of SVG in few bytes: steps from point to point, and no needless zeros."""

import re
from collections.abc import Iterator

_TOKENS = re.compile(r"[MLHVCSQTAZmlhvcsqtaz]|-?\d*\.?\d+(?:e-?\d+)?")
_PAIRS = {"M": 1, "L": 1, "Q": 2, "C": 3}
_LARGE = 20.0  # points: what is larger is drawn to a tenth of a point, not a hundredth


def short_number(number: float, decimals: int = 2) -> str:
    """A number without needless zeros: `0.50` is `.5`."""
    text = f"{number:.{decimals}f}".rstrip("0").rstrip(".")
    text = re.sub(r"^(-?)0\.", r"\1.", text)
    return "0" if text in ("-0", "", "-") else text


def short_path(path: str, *, exact: bool = False) -> str:
    """The same path in relative steps, or the path as it is if it is not simple.

    Rounding never adds up: every step starts where the last one really ended.

    Args:
        path: The attribute `d` as matplotlib writes it: M, L, Q, C and z with
            absolute coordinates in points.
        exact: Keep hundredths of a point even in a large path.
    """
    tokens = _TOKENS.findall(path)
    if any(token.isalpha() and token not in "MLQCz" for token in tokens):
        return path
    numbers = [float(token) for token in tokens if not token.isalpha()]
    span = max(numbers, default=0.0) - min(numbers, default=0.0)
    decimals = 1 if span > _LARGE and not exact else 2
    return "".join(_steps(tokens, decimals))


def _steps(tokens: list[str], decimals: int) -> Iterator[str]:
    scale = 10**decimals
    here = start = (0, 0)
    last = ""
    place = 0
    while place < len(tokens):
        command = tokens[place]
        place += 1
        if command == "z":
            here, last = start, "z"
            yield "z"
            continue
        count = 2 * _PAIRS[command]
        values = [round(float(t) * scale) for t in tokens[place : place + count]]
        place += count
        name, steps = _relative(command, values, here)
        here = values[-2], values[-1]
        start = here if command == "M" else start
        yield _joined(name if name != last else "", [s / scale for s in steps])
        last = name


def _relative(
    command: str, values: list[int], here: tuple[int, int]
) -> tuple[str, list[int]]:
    """A command's letter and its coordinates from where the pen is."""
    steps = [value - here[axis % 2] for axis, value in enumerate(values)]
    if command == "L" and steps[1] == 0:
        return "h", steps[:1]
    if command == "L" and steps[0] == 0:
        return "v", steps[1:]
    return command.lower(), steps


def _joined(name: str, steps: list[float]) -> str:
    """Coordinates with a space only where two of them would run together."""
    text = name
    for step in steps:
        number = short_number(step)
        touches = text == name != "" or number.startswith("-")
        text += number if touches else f" {number}"
    return text
