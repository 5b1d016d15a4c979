"""Figures lose bytes, and nothing that anybody sees."""

import re
from xml.etree import ElementTree

import pytest

from reattn.figures.style import new_sheet, styled
from reattn.figures.svg import save_svg
from reattn.figures.svg_paths import short_path

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")


def corners(path: str) -> list[tuple[float, float]]:
    """Where a path of m, h, v, l, c and z puts its points, in absolute numbers."""
    x = y = 0.0
    start, found = (x, y), []
    for letter, text in re.findall(r"([mhvlcz])([^mhvlcz]*)", path):
        steps = [float(number) for number in NUMBER.findall(text)]
        width = {"h": 1, "v": 1, "c": 6}.get(letter, 2)
        for place in range(0, len(steps), width):
            step = steps[place : place + width]
            whole = {"h": [step[0], 0] if step else [], "v": [0, *step]}
            step = whole.get(letter, step)
            pairs = zip(step[::2], step[1::2], strict=True)
            found += [(x + a, y + b) for a, b in pairs]
            x, y = found[-1]
            if letter == "m" and not place:
                start = x, y
        if letter == "z":
            x, y = start
    return found


def test_a_path_in_steps_goes_where_it_went():
    """Roundings do not add up along a curve of many points."""
    points = [(round(0.537 * n, 2), round(0.291 * n * n % 97, 2)) for n in range(400)]
    path = "M 0 0 " + " ".join(f"L {x} {y} " for x, y in points[1:]) + "z"
    assert len(short_path(path)) < 0.6 * len(path)
    for (x, y), (a, b) in zip(points, corners(short_path(path)), strict=False):
        assert (x, y) == pytest.approx((a, b), abs=0.051)
    small = "M 1.42 0.04 L 1.42 3.5 L 0.37 3.5 C 1 2 3 4 5 6 z M 3 3 L 4.25 4"
    expected = [(1.42, 0.04), (1.42, 3.5), (0.37, 3.5), (1, 2), (3, 4), (5, 6)]
    expected += [(3, 3), (4.25, 4)]
    for found, wanted in zip(corners(short_path(small)), expected, strict=True):
        assert found == pytest.approx(wanted, abs=0.001)


def test_a_path_of_other_commands_stays_as_it_is():
    """What is not understood is not touched."""
    assert short_path("M 0 0 A 1 1 0 0 0 2 2") == "M 0 0 A 1 1 0 0 0 2 2"


def test_a_saved_figure_keeps_its_text_its_title_and_all_that_it_refers_to(tmp_path):
    """Signs of markup survive, every reference has its target, no group is empty."""
    with styled():
        figure, sheet = new_sheet(4.0)
        sheet.text(1, 1, '5 < 6 & it\'s "so"')
        sheet.plot([1, 2, 3], [3, 2, 3], "o")
        path = save_svg(figure, tmp_path / "a.svg", title="A & B's <title>")
    root = ElementTree.parse(path).getroot()
    assert root.findtext(f"{SVG}title") == "A & B's <title>"
    assert "".join(root.find(f".//{SVG}text").itertext()) == '5 < 6 & it\'s "so"'
    assert len(root.findall(f".//{SVG}use")) == 3
    source = path.read_text()
    targets = {element.get("id") for element in root.iter()} - {None}
    assert set(re.findall(r"href='#([^']+)|url\(#([^)]+)\)", source)) != set()
    for pair in re.findall(r"href='#([^']+)|url\(#([^)]+)\)", source):
        assert "".join(pair) in targets
    assert "<metadata" not in source
    assert '"' not in source
