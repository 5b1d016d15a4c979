"""One look for all figures, and one way to draw and to save them.

Figures are built without pyplot: no display, no window system and no MPLBACKEND
can get in the way. One SVG serves the page and, through Typst, the print; its
text stays text, set in the font that matplotlib brings along.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

WIDTH = 16.0  # cm: the text block of the printed report
CENTIMETRES_PER_INCH = 2.54
SMALL, NORMAL, LARGE = 7.0, 8.0, 9.5  # pt, at the width above

# Okabe and Ito, "Color Universal Design" (2008): told apart by colour-blind readers.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
INK, GREY, PALE = "#222222", "#666666", "#D9D9D9"

# 32 steps are more than an eye tells apart in a map, and pack small.
SEQUENTIAL = matplotlib.colormaps["viridis"].resampled(32)
DIVERGING = matplotlib.colormaps["RdBu_r"].resampled(33)

RC_PARAMETERS = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.size": NORMAL,
    "axes.titlesize": NORMAL,
    "axes.labelsize": SMALL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": PALE,
    "grid.linewidth": 0.4,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.frameon": False,
    "lines.linewidth": 1.1,
    "image.composite_image": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "reattn",
}


def font_folder() -> Path:
    """The folder with the figures' font; whoever typesets them needs it."""
    return Path(matplotlib.get_data_path()) / "fonts" / "ttf"


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the report's style, whatever the user's matplotlibrc says."""
    with matplotlib.style.context(["default", RC_PARAMETERS]):
        yield


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure of a size in cm."""
    return Figure(figsize=(width / CENTIMETRES_PER_INCH, height / CENTIMETRES_PER_INCH))


def new_sheet(height: float, width: float = WIDTH) -> tuple[Figure, Axes]:
    """A figure that is one plane in cm: x to the right, y down from the top left."""
    figure = new_figure(height, width)
    sheet = figure.add_axes((0, 0, 1, 1))
    sheet.set_axis_off()
    sheet.set(xlim=(0, width), ylim=(height, 0))
    sheet.autoscale(False)
    return figure, sheet


def inset(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes at a place given in cm from the top left corner of the figure."""
    inches = figure.get_size_inches()
    across, down = inches * CENTIMETRES_PER_INCH
    return figure.add_axes(
        (left / across, 1 - (top + height) / down, width / across, height / down)
    )
