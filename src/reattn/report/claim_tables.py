"""The tables of claims: verdicts, what they rest on, and published numbers."""

import re
from collections.abc import Sequence

from reattn.report import numbers
from reattn.report.captioned import captioned_table
from reattn.report.context import Context
from reattn.report.markdown import Markdown, code, escape
from reattn.report.naming import with_labels
from reattn.report.numbering import Numbering
from reattn.report.provenance import of, with_status
from reattn.report.tables import Column
from reattn.tables.cells import NOT_AVAILABLE, split_reasons

Row = dict[str, str]
VERDICTS = (
    *("supported", "contradicted", "inconclusive"),
    *("not tested", "true by construction"),
)


def claims_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Every claim, what was measured, what it asks for, and the verdict."""
    columns = [
        Column("Claim", "left"),
        Column("Measured", "left", "measured"),
        Column("Asked for", "left", "threshold"),
        Column("Verdict", "left", "verdict"),
    ]
    rows = [
        _claim(context, place, row)
        for place, row in enumerate(context.tables["claims"], start=1)
    ]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "claims",
        "tables/claims.csv",
    )


def _claim(context: Context, place: int, row: Row) -> list[object]:
    statement = f"**{place}.** {escape(row['statement'])} *{escape(row['source'])}*"
    why = with_labels(why_no_clearer(row), context.known)
    kind = row["verdict"].replace(" ", "-")
    verdict = f"[**{escape(row['verdict'])}**]{{.verdict .{kind}}}" + (
        f": {why}" if why else ""
    )
    measured = with_labels(row["measured"], context.known)
    marked = of(
        _variants(row, context),
        Markdown(statement),
        row=row["claim"],
        evidence=row["evidence"].replace('"', "'"),
    )
    return [marked, measured, row["threshold"], Markdown(verdict)]


def _variants(row: Row, context: Context) -> list[str]:
    """The study's variants whose cells a verdict rests on, in their order there."""
    named = dict.fromkeys(re.findall(r"[\w-]+", row["evidence"]))
    return [name for name in named if name in context.models]


def why_no_clearer(row: Row) -> str:
    """Why there is no verdict, or none that is clear, or what to know beside it."""
    why = split_reasons(row["reason"]).get("verdict", "")
    return why.removeprefix(row["verdict"]).strip(" ;:")


def evidence_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """For each claim the cells of tables that its verdict rests on."""
    columns = [
        Column("Claim", "left"),
        Column("Runs"),
        Column("Scale", "left"),
        Column("Interval", "left"),
        Column("Cells", "left"),
    ]
    rows = [
        [
            Markdown(f"{place}. {code(row['claim'])}"),
            row["n"],
            row["scale"],
            row["interval_kind"],
            _cells(row),
        ]
        for place, row in enumerate(context.tables["claims"], start=1)
    ]
    return captioned_table(
        context, numbering, identifier, text, columns, rows, "evidence"
    )


def _cells(row: Row) -> Markdown:
    """Where the numbers stand, and why the claim is held to its threshold."""
    note = split_reasons(row["reason"]).get("note")
    if note is not None or row["note"] == NOT_AVAILABLE:
        return escape(row["evidence"])
    return Markdown(f"{escape(row['evidence'])}. *Note:* {escape(row['note'])}")


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
        interval(row["low"], row["high"], numbers.percent),
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


def interval(low: str, high: str, shown: numbers.Format) -> str:
    """`low to high`, or n/a."""
    if NOT_AVAILABLE in (low, high):
        return NOT_AVAILABLE
    return f"{shown(low)} to {shown(high)}"


def verdict_counts(rows: Sequence[Row]) -> dict[str, int]:
    """How many claims have each verdict, in the order of `VERDICTS`."""
    found = [row["verdict"] for row in rows]
    return {verdict: found.count(verdict) for verdict in VERDICTS}
