"""The tables of claims and their verdicts."""

import re

from reattn.report.captioned import captioned_table
from reattn.report.claim_rows import (
    Row,
    is_of_other_models,
    numbered,
    why_no_clearer,
)
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape
from reattn.report.naming import with_labels
from reattn.report.numbering import Numbering
from reattn.report.provenance import of
from reattn.report.tables import Column


def claims_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Claims, what was measured, what they ask for, and the verdicts.

    Without those of `other_claims_table`.
    """
    columns = [
        Column("Claim", "left"),
        Column("Measured", "left", "measured"),
        Column("Asked for", "left", "threshold"),
        Column("Verdict", "left", "verdict"),
    ]
    rows = [
        _claim(context, place, row)
        for place, row in numbered(context)
        if not is_of_other_models(row)
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


def other_claims_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Claims of which nothing is measured because their models are not here."""
    columns = [
        Column("Claim", "left"),
        Column("Asked for", "left", "threshold"),
        Column("Not tested", "left", "verdict"),
    ]
    rows = [
        [_statement(context, place, row), row["threshold"], _why(context, row)]
        for place, row in numbered(context)
        if is_of_other_models(row)
    ]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "other-claims",
        "tables/claims.csv",
    )


def _claim(context: Context, place: int, row: Row) -> list[object]:
    kind = row["verdict"].replace(" ", "-")
    why = _why(context, row)
    verdict = f"[**{escape(row['verdict'])}**]{{.verdict .{kind}}}" + (
        f": {why}" if why else ""
    )
    return [
        _statement(context, place, row),
        with_labels(row["measured"], context.known),
        row["threshold"],
        Markdown(verdict),
    ]


def _statement(context: Context, place: int, row: Row) -> Markdown:
    """Number, statement and source, marked with what the verdict rests on."""
    statement = f"**{place}.** {escape(row['statement'])} *{escape(row['source'])}*"
    return of(
        _variants(row, context),
        Markdown(statement),
        row=row["claim"],
        evidence=row["evidence"].replace('"', "'"),
    )


def _why(context: Context, row: Row) -> Markdown:
    return with_labels(why_no_clearer(row), context.known)


def _variants(row: Row, context: Context) -> list[str]:
    """The study's variants whose cells a verdict rests on, in their order there."""
    named = dict.fromkeys(re.findall(r"[\w-]+", row["evidence"]))
    return [name for name in named if name in context.models]
