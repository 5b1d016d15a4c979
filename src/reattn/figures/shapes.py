"""Boxes and arrows of diagrams, on a sheet in cm."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from reattn.figures.style import GREY, INK, NORMAL, SMALL

Point = tuple[float, float]
_SYMBOL = SMALL / 0.7  # pt: mathtext sets indices at 0.7 of it


def box(
    sheet: Axes,
    left: float,
    top: float,
    size: Point,
    text: str,
    *,
    colour: str = INK,
    rotation: float = 0,
) -> None:
    """A rounded box with text; its fill is a tint of its outline.

    Args:
        sheet: Plane in cm.
        left: Left edge.
        top: Upper edge.
        size: Width and height.
        text: What stands in it.
        colour: Outline; the black of text stands for "no weights".
        rotation: Of the text, in degrees.
    """
    width, height = size
    fill = "white" if colour == INK else tint(colour, 0.25)
    _rounded(sheet, left, top, size, facecolor=fill, edgecolor=colour, linewidth=1.0)
    sheet.text(
        left + width / 2,
        top + height / 2,
        text,
        size=NORMAL if rotation or "\n" in text else _SYMBOL,
        ha="center",
        va="center",
        rotation=rotation,
        linespacing=1.5,
    )


def panel(
    sheet: Axes, left: float, top: float, width: float, height: float, title: str
) -> None:
    """A pale ground with a title in its upper left corner."""
    ground = {"facecolor": "#F5F5F5", "edgecolor": "none"}
    _rounded(sheet, left, top, (width, height), **ground, zorder=0)
    style = {"size": NORMAL, "weight": "bold", "color": GREY}
    sheet.text(left + 0.12, top + 0.4, title, va="baseline", **style)


def arrow(sheet: Axes, corners: Sequence[Point], *, width: float = 0.8) -> None:
    """A line through corners that ends in an arrowhead."""
    path = Path(corners)
    shape = {"arrowstyle": "-|>,head_length=3.2,head_width=1.6", "mutation_scale": 1}
    style = {"linewidth": width, "color": INK, "shrinkA": 0, "shrinkB": 0}
    joins = {"joinstyle": "miter", "capstyle": "butt"}
    sheet.add_patch(FancyArrowPatch(path=path, **shape, **style, **joins))


def tint(colour: str, strength: float) -> Point:
    """A colour mixed with white."""
    return tuple(1 - strength * (1 - channel) for channel in to_rgb(colour))


def _rounded(sheet: Axes, left: float, top: float, size: Point, **style) -> None:
    corners = {"boxstyle": "round,pad=0,rounding_size=0.08", "mutation_aspect": 1}
    sheet.add_patch(FancyBboxPatch((left, top), *size, **corners, **style))
