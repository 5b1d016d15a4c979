"""Numbers as a reader sees them; n/a stays n/a."""

from collections.abc import Callable

from reattn.tables import statistics
from reattn.tables.cells import NOT_AVAILABLE

MINUS = "−"
CONFIDENCE = f"{100 * statistics.CONFIDENCE:.0f} %"
Cell = str | int | float | None
Format = Callable[[Cell], str]


def number(value: Cell) -> float | None:
    """A cell as a number, or None where it is n/a."""
    if value is None or value in ("", NOT_AVAILABLE):
        return None
    return float(value)


def _shown(value: Cell, pattern: Callable[[float], str]) -> str:
    known = number(value)
    return NOT_AVAILABLE if known is None else pattern(known).replace("-", MINUS)


def percent(value: Cell) -> str:
    """An accuracy, with two decimals."""
    return _shown(value, lambda x: f"{x:.2f}")


def points(value: Cell) -> str:
    """A difference of accuracies, signed; what rounds to nothing is +0.00."""
    return _shown(value, lambda x: f"{x:+z.2f}")


def share(value: Cell) -> str:
    """A part of a whole, in percent with one decimal."""
    return _shown(value, lambda x: f"{100 * x:.1f} %")


def two_decimals(value: Cell) -> str:
    """A plain number with two decimals."""
    return _shown(value, lambda x: f"{x:.2f}")


def relative(value: Cell) -> str:
    """A difference in percent of the whole, signed."""
    return _shown(value, lambda x: f"{x:+z.1f} %")


def probability(value: Cell) -> str:
    """A p value: `= 0.29`, or `< 0.001`."""
    return _shown(value, lambda x: f"= {x:.2g}" if x >= 0.001 else "< 0.001")


def three_decimals(value: Cell) -> str:
    """A plain number with three decimals."""
    return _shown(value, lambda x: f"{x:.3f}")


def count(value: Cell) -> str:
    """A whole number with its thousands apart."""
    return _shown(value, lambda x: f"{x:,.0f}")


def signed_count(value: Cell) -> str:
    """A difference of whole numbers, signed."""
    return _shown(value, lambda x: f"{x:+,.0f}")


def milliseconds(value: Cell) -> str:
    """A time in milliseconds, to three figures or so."""
    return _shown(value, lambda x: f"{x:.1f}" if abs(x) >= 10 else f"{x:.2f}")


def signed_milliseconds(value: Cell) -> str:
    """A difference of times, signed."""
    return _shown(value, lambda x: f"{x:+.1f}" if abs(x) >= 10 else f"{x:+z.2f}")


def gigaflops(value: Cell) -> str:
    """FLOPs in billions."""
    return _shown(value, lambda x: f"{x / 1e9:.2f}" if x >= 1e8 else f"{x / 1e9:.4f}")


def duration(value: Cell) -> str:
    """Seconds as seconds, minutes or hours."""

    def told(seconds: float) -> str:
        if seconds < 120:
            return f"{seconds:.0f} s"
        if seconds < 7200:
            return f"{seconds / 60:.0f} min"
        return f"{seconds / 3600:.1f} h"

    return _shown(value, told)


def plain(value: Cell) -> str:
    """A setting without needless zeros: 0.1, 300, 1e-4 as 0.0001."""
    return _shown(value, lambda x: f"{x:.10f}".rstrip("0").rstrip("."))


def interval(low: str, high: str, shown: Format) -> str:
    """`low to high`, or n/a."""
    if NOT_AVAILABLE in (low, high):
        return NOT_AVAILABLE
    return f"{shown(low)} to {shown(high)}"
