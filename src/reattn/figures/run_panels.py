"""Loss, accuracy and learning rate against epochs."""

import textwrap
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reattn.figures.headings import LINE, draw_text, small_print
from reattn.figures.style import BLUE, GREY, ORANGE, SMALL, WIDTH, inset, new_sheet

Seeds = Mapping[int, pd.DataFrame]
Histories = Mapping[tuple[str, str], Seeds]
Dash = str | tuple[int, tuple[float, ...]]

_DASHES: tuple[Dash, ...] = (
    "-",
    (0, (4, 1.5)),
    (0, (1, 1)),
    (0, (4, 1, 1, 1)),
    (0, (8, 2)),
)
_COLUMNS = 4
# Column of history.csv, its name on the page, its colour and the width of its line.
_ACCURACIES = (
    ("train_accuracy", "training images", ORANGE, 0.8),
    ("test_accuracy_eval", "test images", BLUE, 1.3),
)


def draw_runs(label: str, seeds: Seeds, reduced: str | None) -> Figure:
    """Loss, accuracy and learning rate of one variant, a line style a seed."""
    lines = small_print([], reduced, WIDTH - 0.1)
    top = 1.15 + LINE * len(lines)
    figure, sheet = new_sheet(top + 3.9)
    draw_text(sheet, label, lines, 0.05, 0.1)
    titles = ("Training loss", "Accuracy (%)", "Learning rate")
    panels = [
        _panel(figure, title, 1.1 + column * 5.3, top, 4.1, 2.95)
        for column, title in enumerate(titles)
    ]
    for dash, (seed, history) in zip(_cycle(seeds), seeds.items(), strict=True):
        name = f"seed {seed}"
        _line(panels[0], history, "train_loss", dash, label=name, color=GREY)
        for column, _, colour, width in _ACCURACIES:
            _line(panels[1], history, column, dash, color=colour, linewidth=width)
        _line(panels[2], history, "learning_rate", dash, color=GREY)
    panels[0].legend(loc="best")
    panels[2].set_ylim(bottom=0)
    _name_accuracies(panels[1])
    return figure


def draw_overview(histories: Histories, reduced: str | None) -> Figure:
    """A panel a variant, all on one scale of accuracy."""
    lines = small_print(
        ["Bold blue: test images, eval mode. Thin orange: training images."],
        reduced,
        WIDTH - 0.1,
    )
    top = 1.6 + LINE * len(lines)
    figure, sheet = new_sheet(top + -(-len(histories) // _COLUMNS) * 3.75 - 0.35)
    draw_text(sheet, "Accuracy (%) against epochs", lines, 0.05, 0.1)
    for number, ((_, label), seeds) in enumerate(histories.items()):
        row, column = divmod(number, _COLUMNS)
        place = 0.85 + column * 3.85, top + row * 3.75, 3.25, 2.3
        title = "\n".join(textwrap.wrap(label, 25))
        panel = _panel(figure, title, *place, size=SMALL)
        panel.set_ylim(0, 100)
        if not seeds:
            panel.text(0.5, 50, "no run", ha="center", color=GREY, size=SMALL)
            panel.set_xticks([])
        for history in seeds.values():
            for name, _, colour, width in _ACCURACIES:
                _line(panel, history, name, "-", 2, color=colour, linewidth=width)
        panel.set_xlabel("")
    return figure


def _panel(
    figure: Figure,
    title: str,
    left: float,
    top: float,
    width: float,
    height: float,
    size: float | None = None,
) -> Axes:
    panel = inset(figure, left, top, width, height)
    panel.set_title(title, loc="left", pad=4, size=size)
    panel.set_xlabel("Epoch", labelpad=2)
    panel.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10], integer=True))
    return panel


def _cycle(seeds: Seeds) -> list[Dash]:
    return [_DASHES[number % len(_DASHES)] for number in range(len(seeds))]


def _line(
    panel: Axes,
    history: pd.DataFrame,
    column: str,
    dash: Dash,
    most_markers: int = 12,
    **style: object,
) -> None:
    """A column against epochs; what was not evaluated leaves no gap."""
    values = pd.to_numeric(history[column], errors="coerce")
    epochs = pd.to_numeric(history["epoch"], errors="coerce")
    known = np.isfinite(values) & np.isfinite(epochs)
    marker = "o" if known.sum() < most_markers else None
    panel.plot(
        epochs[known],
        values[known],
        linestyle=dash,
        marker=marker,
        markersize=2.2,
        **style,
    )


def _name_accuracies(panel: Axes) -> None:
    for _, name, colour, width in _ACCURACIES:
        panel.plot([], [], color=colour, linewidth=width, label=name)
    panel.legend(loc="best")
