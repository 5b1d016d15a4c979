"""What chance alone does to many intervals that are read side by side."""

from collections.abc import Sequence

from reattn.report import numbers
from reattn.report.markdown import Markdown
from reattn.tables.cells import NOT_AVAILABLE
from reattn.tables.statistics import CONFIDENCE

Row = dict[str, str]


def by_chance(rows: Sequence[Row], low: str, high: str) -> Markdown:
    """How many intervals would leave zero out if nothing made a difference.

    Args:
        rows: Of a table of differences.
        low: The column of the lower ends.
        high: The column of the upper ends.

    Returns:
        A sentence; empty where fewer than two rows have an interval.
    """
    ends = [
        (float(row[low]), float(row[high]))
        for row in rows
        if NOT_AVAILABLE not in (row[low], row[high])
    ]
    if len(ends) < 2:
        return Markdown("")
    clear = sum(not least <= 0 <= greatest for least, greatest in ends)
    expected = len(ends) * (1 - CONFIDENCE)
    return Markdown(
        f"These are {len(ends)} intervals at {numbers.CONFIDENCE} each: if nothing "
        f"made a difference, {expected:.1f} of them would be expected to leave zero "
        f"out by chance; {clear} {'does' if clear == 1 else 'do'}."
    )
