"""Metrics of attention against layers: a dot a head, a line for their mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as MatplotlibPath
from matplotlib.ticker import MaxNLocator

from reattn.attention.metric_files import ALL, INITIAL, TRAINED
from reattn.figures.style import BLUE, GREY, INK, SMALL

Rows = Sequence[Mapping[str, str]]

_SPECK = 0.005  # of the distance between layers


@dataclass(frozen=True)
class Panel:
    """A metric as a panel.

    Attributes:
        metric: Its name in the file.
        title: Its name and unit on the page.
        factor: From the file's unit to the page's.
    """

    metric: str
    title: str
    factor: float = 1


PANELS = (
    Panel("self_mass", "On itself (%)", 100),
    Panel("distance", "Distance (pixels)"),
    Panel("entropy", "Entropy (nats)"),
    Panel("concentration", "At one shift (%)", 100),
)
_STATES = (
    (INITIAL, "before training", -0.16, {"color": GREY, "linestyle": (0, (2, 1.5))}),
    (TRAINED, "trained", 0.16, {"color": BLUE, "linestyle": "-"}),
)
_UNIFORM = {"color": GREY, "linestyle": (0, (0.8, 1.6)), "linewidth": 0.9}


def draw_key(sheet: Axes, y: float, uniform: bool) -> None:
    """What lines mean, on one line of a sheet in cm."""
    x, note = 0.05, {"size": SMALL, "color": INK, "va": "baseline"}
    for _, name, _, style in reversed(_STATES):
        sheet.plot([x, x + 0.55], [y - 0.08] * 2, linewidth=1.2, **style)
        dot = {"color": style["color"], "markersize": 3, "markeredgewidth": 0}
        sheet.plot(x + 0.275, y - 0.08, "o", alpha=0.6, **dot)
        sheet.text(x + 0.68, y, name, **note)
        x += 2.6
    if uniform:
        sheet.plot([x + 0.4, x + 0.95], [y - 0.08] * 2, **_UNIFORM)
        sheet.text(x + 1.08, y, "all keys alike", **note)


def draw_panel(
    panel: Axes, rows: Rows, shown: Panel, uniform: float | None = None
) -> None:
    """A metric against layers.

    Args:
        panel: Where to.
        rows: Of heads and of all, trained and before.
        shown: The metric.
        uniform: What attention to all keys alike has, if it is known.
    """
    if uniform is not None:
        panel.axhline(shown.factor * uniform, **_UNIFORM)
    panel.set_title(shown.title, loc="left", pad=4)
    panel.set_xlabel("Layer", labelpad=1)
    layers = sorted({int(row["layer"]) for row in rows})
    panel.set_xlim(min(layers) - 0.5, max(layers) + 0.5)
    for state, _, aside, style in _STATES:
        own = [row for row in rows if row["state"] == state]
        _draw_state(panel, own, shown, aside, style)
    panel.autoscale_view(scalex=False)
    panel.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    panel.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    panel.xaxis.grid(False)
    panel.set_ylim(0, 1.03 * panel.get_ylim()[1])


def _draw_state(
    panel: Axes, rows: Rows, shown: Panel, aside: float, style: Mapping
) -> None:
    """Heads as dots beside their layer, and the mean over heads and runs as a line."""
    heads = [row for row in rows if row["head"] != ALL]
    places = [int(row["layer"]) + aside for row in heads]
    panel.add_patch(_dots(places, _values(heads, shown), style["color"]))
    layers: dict[int, list[float]] = {}
    for row in rows:
        if row["head"] == ALL:
            layers.setdefault(int(row["layer"]), []).extend(_values([row], shown))
    means = [sum(values) / len(values) for values in layers.values()]
    along = [layer + aside for layer in layers]
    panel.plot(along, means, linewidth=1.2, zorder=3, **style)


def _dots(places: Sequence[float], values: Sequence[float], colour: str) -> PathPatch:
    """Many dots in few bytes: lines of no length to speak of, with round ends."""
    ends = [((x, y), (x + _SPECK, y)) for x, y in zip(places, values, strict=True)]
    corners = [corner for line in ends for corner in line]
    codes = [MatplotlibPath.MOVETO, MatplotlibPath.LINETO] * len(ends)
    path = MatplotlibPath(np.reshape(corners, (-1, 2)), codes)
    round_ends = {"linewidth": 2.8, "capstyle": "round", "alpha": 0.5, "fill": False}
    return PathPatch(path, edgecolor=colour, **round_ends)


def _values(rows: Rows, shown: Panel) -> list[float]:
    return [shown.factor * float(row[shown.metric]) for row in rows]
