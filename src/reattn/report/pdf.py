"""The print: the same text through Typst, with fonts that come along."""

import shutil
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from reattn.errors import ReattnError
from reattn.report.figures import Figure
from reattn.report.pandoc import convert


def make_typst(text: str, sources: Path) -> str:
    """The report in Typst's markup.

    Raises:
        ReattnError: pandoc finds a fault.
    """
    return convert(
        text,
        "typst",
        sources,
        [
            *("--template", str(sources / "print" / "template.typ")),
            *("--lua-filter", str(sources / "print" / "print.lua")),
        ],
    )


def make_pdf(
    markup: str, figures: Sequence[Figure], results: Path, format: str = "pdf"
) -> bytes | list[bytes]:
    """Typeset the report; the same input gives the same bytes on every machine.

    System fonts are left out. Typst's own are used, and those that matplotlib
    brings along, in which the figures are lettered.

    Args:
        markup: What `make_typst` returned.
        figures: The figures that it may name.
        results: The study's folder; the report lies one folder below it.
        format: `pdf`, or `png` for one image a page.

    Raises:
        ReattnError: Typst stops; its message says where.
    """
    import typst

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for figure in figures:
            copy = root / figure.path.relative_to(results)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(figure.path, copy)
        main = root / "report" / "report.typ"
        main.parent.mkdir(exist_ok=True)
        main.write_text(markup, encoding="utf-8")
        try:
            return typst.compile(
                main,
                root=root,
                format=format,
                ppi=72.0 if format == "png" else None,
                ignore_system_fonts=True,
                font_paths=font_folders(),
            )
        except (RuntimeError, typst.TypstError) as fault:
            raise ReattnError(f"Typst could not make the PDF: {fault}") from None


def font_folders() -> list[Path]:
    """The fonts of the figures, found without importing matplotlib."""
    package = find_spec("matplotlib")
    if package is None or package.origin is None:
        return []
    return [Path(package.origin).parent / "mpl-data" / "fonts" / "ttf"]
