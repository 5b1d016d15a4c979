"""The table of the cells that verdicts rest on."""

from reattn.report.captioned import captioned_table
from reattn.report.claim_rows import Row, is_of_other_models, numbered
from reattn.report.context import Context
from reattn.report.markdown import Markdown, code, escape
from reattn.report.numbering import Numbering
from reattn.report.tables import Column
from reattn.tables.cells import NOT_AVAILABLE, split_reasons


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
        for place, row in numbered(context)
        if not is_of_other_models(row)
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
