"""The printed report: what it holds, how it is set, and that nothing stands outside."""

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_up_study import NAME, figure, made_up_study, write_figures
from pypdf import PdfReader
from test_report import CHANGES, ROOT, SOURCES, build, fill

from reattn.report.context import read_context
from reattn.report.pdf import make_pdf, make_typst
from reattn.report.render import render

MARGIN = 2.5 / 2.54 * 72  # points
HEAD = 1.4 / 2.54 * 72  # points; the running head stands between both


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole report."""
    results = tmp_path_factory.mktemp("paper") / NAME
    fill(results)
    build(results)
    return results


def test_fonts_are_inside_the_print(built: Path) -> None:
    """Every font is embedded, and none comes from this machine."""
    known = ("LibertinusSerif", "NewCMMath", "NewCM", "DejaVuSans")
    fonts = set()
    for page in _reader(built).pages:
        for font in page["/Resources"].get("/Font", {}).values():
            described = font.get_object()["/DescendantFonts"][0]["/FontDescriptor"]
            assert {"/FontFile2", "/FontFile3"} & set(described)
            fonts.add(described["/FontName"].split("+")[-1])
    assert len(fonts) >= 4
    assert all(font.startswith(known) for font in fonts), fonts


def _reader(built: Path) -> PdfReader:
    return PdfReader(built / "report" / "report.pdf")


def _words(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_each_page_but_the_first_has_a_running_head(built: Path) -> None:
    """A loose page tells its report, its study, and that the study is reduced."""
    first, *rest = _reader(built).pages
    head = "[Re] Self-Attention and Convolutional Layers"
    assert head not in first.extract_text()
    for number, page in enumerate(rest, 2):
        text = _words(page.extract_text())
        assert head in text
        assert "a reduced study" in text
        assert f"{number} / {len(rest) + 1}" in text


def test_the_outline_leads_to_every_heading(built: Path) -> None:
    """A reader of the PDF finds each section and its parts in the side bar."""
    reader = _reader(built)

    def titles(entries: list) -> Iterator[str]:
        for entry in entries:
            yield from titles(entry) if isinstance(entry, list) else [entry.title]

    text = (built / "report" / "report.md").read_text(encoding="utf-8")
    headings = re.findall(r"^##? (.+?) \{#", text, re.MULTILINE)
    found = [_words(title) for title in titles(reader.outline)]
    assert len(headings) > 20
    asked = [heading.replace("\\", "").replace("’", "'") for heading in headings]
    assert [title.replace("’", "'") for title in found] == asked


def test_the_file_says_what_it_is(built: Path) -> None:
    """Title, author and keywords for those who search a folder of papers."""
    facts = _reader(built).metadata
    assert facts.title.startswith("[Re] On the Relationship between Self-Attention")
    assert facts.author == "The reattn developers"
    assert "self-attention" in facts["/Keywords"]
    assert "/CreationDate" not in facts


def test_links_lead_somewhere(built: Path) -> None:
    """Each link of the print has a place in it, or an address."""
    reader = _reader(built)
    places, inside, outside = set(reader.named_destinations), 0, 0
    for page in reader.pages:
        for annotation in page.get("/Annots", []):
            action = annotation.get_object()
            address = action.get("/A", {}).get("/URI")
            if address is None:
                place = action.get("/Dest") or action["/A"]["/D"]
                if isinstance(place, str):
                    assert place in places
                else:
                    assert place.get_object()[0].get_object()["/Type"] == "/Page"
                inside += 1
            else:
                assert address.startswith("https://")
                outside += 1
    assert inside > 50
    assert outside > 10


def test_a_long_table_repeats_its_head(built: Path) -> None:
    """Claims fill several pages; each tells again what its columns are."""
    pages = [_words(page.extract_text()) for page in _reader(built).pages]
    heads = [text for text in pages if "Claim Measured Asked for Verdict" in text]
    assert len(heads) > 1


def test_pictures_are_told_to_those_who_hear_them(built: Path) -> None:
    """Each figure of the print has its alternative text, as on the page."""
    text = (built / "report" / "report.md").read_text(encoding="utf-8")
    told = re.findall(r'#picture\("[^"]+", alt: "(.)', make_typst(text, SOURCES))
    assert len(told) > 10
    assert '"' not in told


def _ink_outside(image: bytes) -> list[tuple[int, int, int, int]]:
    """Where a page at 72 dots an inch has ink outside of the text block.

    The block ends at the last baseline; letters may reach below it.
    """
    from PIL import Image, ImageChops, ImageOps

    page = ImageOps.invert(Image.open(io.BytesIO(image)).convert("L"))
    width, height = page.size
    edge = int(MARGIN) - 1
    inside = Image.new("L", page.size, 255)
    inside.paste(0, (edge, edge, width - edge, height - edge + 3))
    middle = width // 2
    inside.paste(0, (middle - 30, height - edge, middle + 30, height))  # page number
    inside.paste(0, (edge, int(HEAD), width - edge, edge))  # running head
    box = ImageChops.multiply(page, inside).point(lambda x: 255 * (x > 25)).getbbox()
    return [box] if box else []


@pytest.mark.parametrize("size", [(2000, 300), (454, 120), (400, 2500)])
def test_nothing_stands_outside_the_text_block(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    """Case R5: whatever a figure's size, and for all tables."""
    fill(tmp_path)
    entry = figure("query", "learned2d-16h-content_query.svg", "learned2d-16h-content")
    place = tmp_path / "figures" / "attention" / "learned2d-16h-content"
    write_figures(place, [entry], width=size[0], height=size[1])
    study, variants = made_up_study(**CHANGES)
    context = read_context(NAME, study, variants, tmp_path, ROOT)
    text = render(context, SOURCES / "sections", tmp_path / "report")
    pages = make_pdf(make_typst(text, SOURCES), context.figures, tmp_path, "png")
    assert len(pages) > 15
    outside = {number: _ink_outside(page) for number, page in enumerate(pages, 1)}
    assert {number: boxes for number, boxes in outside.items() if boxes} == {}


def test_text_of_the_print_stands_inside(built: Path) -> None:
    """Case R5: on the PDF itself, text begins within the margins of its page."""
    for page in _reader(built).pages:
        begins: list[float] = []
        page.extract_text(visitor_text=_collector(begins))
        assert min(begins) > MARGIN - 1
        assert max(begins) < float(page.mediabox.width) - MARGIN


def _collector(begins: list[float]) -> Callable[..., None]:
    def collect(text: str, matrix: list, text_matrix: list, *_: object) -> None:
        if text.strip():
            begins.append(text_matrix[4] * matrix[0] + matrix[4])

    return collect


def _drawn(page: Any) -> list[tuple[float, float]]:
    """Points of the page's lines and images; a figure counts by its clipping frame."""
    matrix, clipped, stack = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0), False, []
    path: list[tuple[float, float]] = []
    drawn: list[tuple[float, float]] = []
    for values, operator in page.get_contents().operations:
        if operator == b"q":
            stack.append((matrix, clipped))
        elif operator == b"Q":
            matrix, clipped = stack.pop()
        elif operator == b"cm":
            matrix = _product(tuple(map(float, values)), matrix)
        elif operator in (b"m", b"l", b"c", b"v", b"y"):
            numbers = [float(value) for value in values]
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            path += [_moved(pair, matrix) for pair in pairs]
        elif operator == b"re":
            x, y, width, height = map(float, values)
            path += [_moved(p, matrix) for p in ((x, y), (x + width, y + height))]
        elif operator in (b"W", b"W*"):
            drawn += [] if clipped else path
            clipped = True
        elif operator in (b"f", b"f*", b"F", b"S", b"s", b"B", b"b", b"B*", b"b*"):
            drawn += [] if clipped else path
            path = []
        elif operator == b"n":
            path = []
        elif operator == b"Do" and not clipped:
            drawn += [_moved(corner, matrix) for corner in ((0, 0), (1, 1))]
    return drawn


Matrix = tuple[float, ...]


def _product(first: Matrix, second: Matrix) -> Matrix:
    """PDF's matrices of six numbers, the first applied first."""
    (a, b, c, d, e, f), (x, y, z, w, u, v) = first, second
    linear = (a * x + b * z, a * y + b * w, c * x + d * z, c * y + d * w)
    return (*linear, e * x + f * z + u, e * y + f * w + v)


def _moved(point: tuple[float, float], matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * point[0] + c * point[1] + e, b * point[0] + d * point[1] + f


def test_figures_and_tables_of_the_print_stand_inside(built: Path) -> None:
    """Case R5: on the PDF itself, frames of figures and rules of tables as well."""
    points = 0
    for number, page in enumerate(_reader(built).pages, 1):
        width, height = map(float, page.mediabox[2:])
        for x, y in _drawn(page):
            # The shade of a word of code reaches 1.5 points beyond its letters.
            assert MARGIN - 2 <= x <= width - MARGIN + 2, number
            assert MARGIN - 3 <= y <= height - HEAD, number
            points += 1
    assert points > 100
