"""The head of a figure: photograph, title, what is shown, and the colour scale."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap

from reattn.figures.photographs import Point, draw_photograph
from reattn.figures.style import (
    CENTIMETRES_PER_INCH,
    GREY,
    LARGE,
    SMALL,
    VERMILION,
)
from reattn.figures.wording import reduced_sentence

PHOTOGRAPH = 2.3  # cm
LINE = 0.33  # cm, from one line of small print to the next
_INDENT = 0.35
_EM = SMALL / 72 * CENTIMETRES_PER_INCH
_CHARACTER = 0.525 * _EM  # mean advance of the figures' font


@dataclass(frozen=True)
class Heading:
    """What a figure says about itself.

    Attributes:
        title: Model and subject.
        lines: What is shown and how; each is wrapped to the width.
        colours: The colour map in use.
        scale: Names of the ends of the scale, low then high.
        reduced: How the study falls short of the report, if it does.
    """

    title: str
    lines: Sequence[str]
    colours: Colormap
    scale: tuple[str, str]
    reduced: str | None = None

    def wrapped(self, width: float) -> list[tuple[str, str]]:
        """Lines of text and their colours, wrapped to a width in cm."""
        return small_print(self.lines, self.reduced, width - PHOTOGRAPH - _INDENT)

    def height(self, width: float) -> float:
        """Height in cm of the drawn heading, over a width in cm."""
        return max(PHOTOGRAPH, 0.55 + LINE * (len(self.wrapped(width)) + 1.4)) + 0.15


def small_print(
    lines: Sequence[str], reduced: str | None, width: float
) -> list[tuple[str, str]]:
    """Lines of text and their colours, wrapped to a width in cm."""
    paragraphs = [(line, GREY) for line in lines]
    if reduced:
        paragraphs.append((reduced_sentence(reduced), VERMILION))
    room = int(width / _CHARACTER)
    return [
        (line, colour)
        for text, colour in paragraphs
        for line in textwrap.wrap(text, room)
    ]


def draw_text(
    sheet: Axes, title: str, lines: list[tuple[str, str]], left: float, top: float
) -> float:
    """A title over small print; return where the last line stands, in cm."""
    place = {"va": "baseline", "ha": "left"}
    y = top + 0.3
    sheet.text(left, y, title, size=LARGE, weight="bold", **place)
    y += 0.15
    for line, colour in lines:
        y += LINE
        sheet.text(left, y, line, size=SMALL, color=colour, **place)
    return y


def draw_heading(
    sheet: Axes, heading: Heading, image: np.ndarray, top: float = 0.1
) -> Point:
    """Draw a heading over the sheet's width; return the photograph's size."""
    width = sheet.get_xlim()[1]
    size = draw_photograph(sheet, image, 0.05, top, PHOTOGRAPH)
    left = PHOTOGRAPH + _INDENT
    y = draw_text(sheet, heading.title, heading.wrapped(width), left, top)
    draw_scale(sheet, heading.colours, heading.scale, left, y + 0.2)
    return size


def draw_scale(
    sheet: Axes, colours: Colormap, ends: tuple[str, str], left: float, top: float
) -> None:
    """A colour bar on one line between the names of its ends."""
    height, length = 0.22, 2.6
    start = left + len(ends[0]) * _CHARACTER + 0.12
    ramp = colours(np.arange(colours.N))[np.newaxis]
    extent = (start, start + length, top + height, top)
    sheet.imshow(ramp, extent=extent, interpolation="none", aspect="auto")
    place = {"size": SMALL, "va": "baseline"}
    sheet.text(start - 0.1, top + 0.19, ends[0], ha="right", **place)
    sheet.text(start + length + 0.1, top + 0.19, ends[1], ha="left", **place)
