"""The page: one HTML file that asks no server for anything."""

import base64
import html
import re
import struct
from itertools import groupby
from pathlib import Path
from urllib.parse import quote, unquote

from reattn.errors import ReattnError
from reattn.report.pandoc import convert

_IMAGE = re.compile(r'<img src="([^"]+)"')
_VIEW_BOX = re.compile(r"""viewBox=["']0 0 ([\d.]+) ([\d.]+)["']""")
# With the sign that follows, which would otherwise begin a line.
_INLINE_MATHS = re.compile(r'(<math display="inline".*?</math>)([,.;:]?)', re.DOTALL)
# Filled in by hand: a command line has too little room, and not every character.
_PROVENANCE = '<script type="application/json" id="provenance">'
_MANY = 30  # elements of a formula that is about as wide as a phone
_TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg"}
_SAFE_IN_ATTRIBUTE = " !$&'()*+,-./:;=?@_~"


def make_html(text: str, sources: Path, folder: Path, provenance: str = "{}") -> str:
    """The report as a page with its style and all its images inside.

    Args:
        text: report.md.
        sources: Folder with references.bib and `page`: template.html, then styles
            and scripts, which enter the page in the order of their names.
        folder: The folder that image paths are written from.
        provenance: Where the numbers of its tables came from, as JSON.

    Raises:
        ReattnError: the template or an image cannot be read, or pandoc finds a fault.
    """
    parts = sources / "page"
    if not (parts / "template.html").is_file():
        raise ReattnError(f"{parts / 'template.html'} is missing; restore it.")
    page = convert(
        text,
        "html5",
        sources,
        [
            *("--template", str(parts / "template.html")),
            *("--mathml", "--toc", "--toc-depth=2", "--section-divs"),
        ],
    )
    page = _INLINE_MATHS.sub(lambda maths: _with_room(*maths.groups()), page)
    page = _IMAGE.sub(lambda image: _embedded(image[1], folder), page)
    for tag, content in (
        ("<style>", _joined(parts, "*.css")),
        (_PROVENANCE, provenance),
        ('<script type="module">', _joined(parts, "*.js")),
    ):
        page = page.replace(f"{tag}</", f"{tag}{content}</", 1)
    return page


def _with_room(maths: str, sign: str) -> str:
    """Browsers do not break formulas, so a long one scrolls on a narrow screen."""
    together = maths + sign
    long = maths.count("<m") > _MANY
    return f'<span class="long">{together}</span>' if long else together


def _joined(folder: Path, pattern: str) -> str:
    """Files one after the other; scripts of one decade share names with no other."""
    parts = []
    for _, paths in groupby(sorted(folder.glob(pattern)), lambda path: path.name[0]):
        text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
        parts.append(f"{{\n{text}}}" if pattern == "*.js" else text)
    return "\n".join(parts)


def _embedded(source: str, folder: Path) -> str:
    path = folder / unquote(html.unescape(source))
    try:
        content = path.read_bytes()
    except OSError as fault:
        raise ReattnError(f"{path} cannot be read for the page: {fault}.") from None
    size = _size(content, path.suffix)
    return f'<img loading="lazy"{size} src="{data_uri(content, path.suffix)}"'


def _size(content: bytes, suffix: str) -> str:
    """Width and height, from which a browser keeps the place free."""
    if suffix == ".svg":
        found = _VIEW_BOX.search(content.decode("utf-8"))
        sides = [float(side) * 4 / 3 for side in found.groups()] if found else []
    else:
        sides = struct.unpack(">II", content[16:24]) if suffix == ".png" else []
    if len(sides) != 2:
        return ""
    return ' width="{:.0f}" height="{:.0f}"'.format(*sides)


def data_uri(content: bytes, suffix: str) -> str:
    """A file as an address; SVG stays text, which is a quarter smaller."""
    kind = _TYPES[suffix]
    if suffix == ".svg":
        text = " ".join(content.decode("utf-8").split())
        return f"data:{kind},{quote(text, safe=_SAFE_IN_ATTRIBUTE)}"
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
