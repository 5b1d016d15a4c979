"""Tables with a numbered caption that says what their numbers come from."""

from collections.abc import Sequence

from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape
from reattn.report.numbering import Numbering
from reattn.report.tables import Column, markdown_table


def table_caption(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """A caption with the table's number, and what its numbers come from."""
    name = numbering.table(identifier)
    kind = "a reduced study" if context.study.reduced else "a study at full size"
    sources = ", ".join(context.values("data_source")) or context.study.data.source
    origin = f"Study {context.name}, {kind}; images: {sources}."
    return Markdown(f"**{name}.** {escape(text)} {escape(origin)}")


def captioned_table(
    context: Context,
    numbering: Numbering,
    identifier: str,
    text: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[object]],
    kind: str = "",
    file: str = "",
) -> Markdown:
    """A table with its caption; see `reattn.report.tables.markdown_table`."""
    caption = table_caption(context, numbering, identifier, text)
    return markdown_table(
        columns, rows, caption=caption, identifier=identifier, kind=kind, file=file
    )
