"""The tables of claims: verdicts, what they rest on, and published numbers."""

from collections.abc import Sequence

from reattn.report import numbers
from reattn.report.captioned import captioned_table
from reattn.report.context import Context
from reattn.report.markdown import Markdown, code, escape
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
        Column("Measured", "left"),
        Column("Asked for", "left"),
        Column("Verdict", "left"),
    ]
    rows = [_claim(row) for row in context.tables["claims"]]
    return captioned_table(
        context, numbering, identifier, text, columns, rows, "claims"
    )


def _claim(row: Row) -> list[object]:
    statement = f"{escape(row['statement'])} *{escape(row['source'])}*"
    why = _why(row).removeprefix(row["verdict"]).strip(" ;:")
    kind = row["verdict"].replace(" ", "-")
    verdict = f"[**{escape(row['verdict'])}**]{{.verdict .{kind}}}" + (
        f": {escape(why)}" if why else ""
    )
    return [Markdown(statement), row["measured"], row["threshold"], Markdown(verdict)]


def _why(row: Row) -> str:
    """Why there is no verdict, or none that is clear."""
    return split_reasons(row["reason"]).get("verdict", "")


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
            code(row["claim"]),
            row["n"],
            row["scale"],
            row["interval_kind"],
            _cells(row),
        ]
        for row in context.tables["claims"]
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
        _told(row),
    ]


def _told(row: Row) -> str:
    """A verdict, and why it is none or no clearer."""
    reasons = split_reasons(row["reason"])
    why = reasons.get("verdict") or reasons.get("measured_mean", "")
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
