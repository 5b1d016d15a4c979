"""The table of published numbers beside ours."""

from reattn.report import numbers
from reattn.report.captioned import captioned_table
from reattn.report.context import Context
from reattn.report.markdown import Markdown
from reattn.report.naming import with_labels
from reattn.report.numbering import Numbering
from reattn.report.provenance import of, with_status
from reattn.report.tables import Column
from reattn.tables.cells import split_reasons

Row = dict[str, str]


def published_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Every published accuracy beside the interval in which one run is expected."""
    columns = [
        Column("Model", "left"),
        Column("Published, %", source="published"),
        Column("Measured, %", source="measured_mean"),
        Column("Interval for one run", source="low,high"),
        Column("Runs", source="n"),
        Column("Verdict", "left", "verdict"),
    ]
    rows = [_published(context, row) for row in context.tables["published"]]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models",
        "tables/published.csv",
    )


def _published(context: Context, row: Row) -> list[object]:
    return [
        of(row["variant"], context.label_of(row["variant"])),
        numbers.percent(row["published"]),
        with_status(context, row["variant"], numbers.percent(row["measured_mean"])),
        numbers.interval(row["low"], row["high"], numbers.percent),
        row["n"],
        with_labels(_told(row), context.known),
    ]


def _told(row: Row) -> str:
    """A verdict, and why it is none or no clearer."""
    reasons = split_reasons(row["reason"])
    why = reasons.get("verdict") or reasons.get("measured_mean", "")
    # The row is this model's already.
    why = why.removesuffix(f": {row['variant']}")
    why = why.removeprefix(row["verdict"]).strip(" ;:")
    return f"{row['verdict']}: {why}" if why else row["verdict"]
