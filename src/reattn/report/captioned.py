"""Tables with a numbered caption that says what their numbers come from."""

from collections.abc import Sequence

from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape
from reattn.report.numbering import Numbering
from reattn.report.sources import image_sources
from reattn.report.tables import Column, markdown_table


def table_caption(
    context: Context,
    numbering: Numbering,
    identifier: str,
    text: str,
    origin: str = "",
) -> Markdown:
    """A caption with the table's number, and what its numbers come from."""
    name = numbering.table(identifier)
    shown = origin or _study_and_images(context)
    return Markdown(f"**{name}.** {escape(text)} {escape(shown)}")


def _study_and_images(context: Context) -> str:
    kind = "a reduced study" if context.study.reduced else "a study at full size"
    images = ", ".join(image_sources(context))
    return f"Study {context.name}, {kind}; images: {images}."


def captioned_table(
    context: Context,
    numbering: Numbering,
    identifier: str,
    text: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[object]],
    kind: str = "",
    file: str = "",
    origin: str = "",
) -> Markdown:
    """A table with its caption; see `reattn.report.tables.markdown_table`.

    `origin` stands in place of the study and its images, for numbers of neither.
    """
    caption = table_caption(context, numbering, identifier, text, origin)
    return markdown_table(
        columns, rows, caption=caption, identifier=identifier, kind=kind, file=file
    )
