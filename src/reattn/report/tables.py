"""Tables in Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from reattn.report.markdown import Markdown, escape

_RULES = {"left": ":---", "right": "---:", "centre": ":---:"}


@dataclass(frozen=True)
class Column:
    """A column's heading, how its cells stand, and the column of the file behind it."""

    heading: object
    align: str = "right"
    source: str = ""


def markdown_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[object]],
    *,
    caption: Markdown,
    identifier: str,
    kind: str = "",
    file: str = "",
) -> Markdown:
    """A table in a box of its own, which may scroll on a narrow screen.

    Args:
        columns: Headings, left to right.
        rows: Cells; plain text is escaped, `Markdown` is not.
        caption: Stands above it, with its number.
        identifier: What references point to.
        kind: Further classes: `landscape` turns the printed page.
        file: The file of the study that the columns' sources are columns of.
    """
    lines = [
        _line([column.heading for column in columns]),
        "|" + "|".join(_RULES[column.align] for column in columns) + "|",
        *(_line(row) for row in rows),
    ]
    classes = " ".join(f".{name}" for name in ["table-box", *kind.split()])
    return Markdown(
        f"::: {{#{identifier} {classes}{_origin(columns, file)}}}\n"
        + "\n".join(lines)
        + f"\n\n: [{caption}]{{.caption}}\n:::"
    )


def _origin(columns: Sequence[Column], file: str) -> str:
    """Attributes that say which column of which file each column shows."""
    if not file:
        return ""
    names = " ".join(column.source or "-" for column in columns)
    return f' file="{file}" columns="{names}"'


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(escape(cell) for cell in cells) + " |"
