"""Two models beside each other: a sentence, and a table of own variants."""

from collections.abc import Sequence

from reattn.report import numbers
from reattn.report.captioned import captioned_table
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape
from reattn.report.numbering import Numbering
from reattn.report.tables import Column
from reattn.tables.cells import NOT_AVAILABLE, split_reasons

Row = dict[str, str]


def comparison(row: Row, common: str = "") -> Markdown:
    """What a row of comparisons.csv says, or why it says nothing.

    Args:
        row: Of comparisons.csv.
        common: The kind of interval that the text has named for all, if it has.
    """
    names = f"*{escape(row['label'])}*", f"*{escape(row['other_label'])}*"
    if row["difference"] == NOT_AVAILABLE:
        why = split_reasons(row["reason"]).get("difference", "")
        return Markdown(f"{names[0]} and {names[1]} cannot be compared: {escape(why)}.")
    return Markdown(
        f"{names[0]} reaches {numbers.percent(row['accuracy'])} % and {names[1]} "
        f"{numbers.percent(row['other_accuracy'])} %, a difference of "
        f"{escape(numbers.points(row['difference']))} points"
        f"{_between(row, common)}{_open(row)}."
    )


def common_kind(rows: Sequence[Row]) -> str:
    """The kind that all intervals of comparisons.csv are of; empty if they differ."""
    kinds = {row["kind"] for row in rows if row["low"] != NOT_AVAILABLE}
    return kinds.pop() if len(kinds) == 1 else ""


def _between(row: Row, common: str) -> str:
    ends = numbers.interval(row["low"], row["high"], numbers.points)
    if ends == NOT_AVAILABLE:
        return f" ({escape(row['kind'])})"
    if row["kind"] == common:
        return f" ({escape(ends)})"
    return f" ({escape(ends)}; {escape(row['kind'])})"


def _open(row: Row) -> str:
    """What an interval on both sides of zero means; a clear one speaks for itself."""
    if NOT_AVAILABLE in (row["low"], row["high"]):
        return ""
    if float(row["low"]) <= 0 <= float(row["high"]):
        return ", which these runs do not tell from none"
    return ""


def own_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Own variants beside what they are compared with."""
    columns = [
        Column("Model", "left"),
        Column("Compared with", "left"),
        Column("Accuracy, %"),
        Column("Other, %"),
        Column("Difference"),
        Column(f"{numbers.CONFIDENCE} interval"),
        Column("Kind of interval", "left"),
    ]
    rows = [_own(row) for row in context.own_comparisons]
    return captioned_table(
        context, numbering, identifier, text, columns, rows, "models"
    )


def _own(row: Row) -> list[object]:
    return [
        row["label"],
        row["other_label"],
        numbers.percent(row["accuracy"]),
        numbers.percent(row["other_accuracy"]),
        numbers.points(row["difference"]),
        numbers.interval(row["low"], row["high"], numbers.points),
        row["kind"],
    ]
