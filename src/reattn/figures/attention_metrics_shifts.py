"""Where the fixed shifts lie at which heads are most concentrated, a panel a layer."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reattn.attention.metric_files import INITIAL, SHIFT, TRAINED
from reattn.figures.headings import draw_scale
from reattn.figures.style import BLUE, GREY, INK, PALE, SMALL, WIDTH, inset

Rows = Sequence[Mapping[str, str]]
Groups = dict[tuple[int, int], list[float]]  # shares of the heads at each shift

_COLUMNS, _SIDE, _LEFT, _ABOVE, _BELOW = 6, 1.95, 0.85, 1.25, 0.8
_TITLE = "The fixed shift that holds most: columns across, rows down, in patches"
_SHADES = LinearSegmentedColormap.from_list("shares", ["white", BLUE], 32)
_SMALLEST, _LARGEST = 4.0, 10.0  # pt, diameters for one head and for the most


def shifts_height(rows: Rows) -> float:
    """Height in cm of the panels of these heads."""
    layers = len({row["layer"] for row in rows})
    return _ABOVE + -(-layers // _COLUMNS) * (_SIDE + _BELOW)


def draw_shifts(figure: Figure, sheet: Axes, rows: Rows, top: float) -> None:
    """A panel a layer, with a circle at every shift that is some head's best.

    Args:
        figure: What the sheet belongs to.
        sheet: The plane in cm.
        rows: Of heads, trained and before.
        top: Where to begin, in cm.
    """
    _draw_key(sheet, top)
    layers: dict[int, list[Mapping[str, str]]] = {}
    for row in rows:
        layers.setdefault(int(row["layer"]), []).append(row)
    reach = 1.5 + max(abs(int(row[axis])) for row in rows for axis in SHIFT)
    groups = {layer: _groups(own, TRAINED) for layer, own in layers.items()}
    most = max(len(heads) for found in groups.values() for heads in found.values())
    for place, (layer, own) in enumerate(sorted(layers.items())):
        row, column = divmod(place, _COLUMNS)
        left = _LEFT + column * (WIDTH - _LEFT + 0.2) / _COLUMNS
        down = top + _ABOVE + row * (_SIDE + _BELOW)
        panel = inset(figure, left, down, _SIDE, _SIDE)
        _draw_frame(panel, reach)
        panel.tick_params(labelleft=column == 0)
        panel.set_title(f"Layer {layer}", loc="left", pad=2, size=SMALL)
        _draw_before(panel, _groups(own, INITIAL))
        _draw_trained(panel, groups[layer], most)


def _draw_key(sheet: Axes, top: float) -> None:
    sheet.text(0.05, top + 0.3, _TITLE, va="baseline")
    y = top + 0.68
    note = {"size": SMALL, "va": "baseline"}
    circle = {"markersize": 5, "markeredgecolor": INK, "markeredgewidth": 0.5}
    sheet.plot(0.2, y - 0.08, "o", markerfacecolor=BLUE, **circle)
    sheet.text(0.42, y, "a trained head, or several (larger)", **note)
    sheet.plot(6.2, y - 0.08, "+", color=GREY, markersize=4, markeredgewidth=0.7)
    sheet.text(6.4, y, "a head before training", **note)
    draw_scale(sheet, _SHADES, ("0", "100 % of its attention"), 9.6, y - 0.19)


def _groups(rows: Rows, state: str) -> Groups:
    groups: Groups = {}
    for row in rows:
        if row["state"] == state:
            shift = int(row[SHIFT[0]]), int(row[SHIFT[1]])
            groups.setdefault(shift, []).append(float(row["concentration"]))
    return groups


def _draw_frame(panel: Axes, reach: float) -> None:
    """Rows run down, as in the image; the query is where the lines cross."""
    panel.set(xlim=(-reach, reach), ylim=(reach, -reach), aspect="equal")
    panel.grid(False)
    panel.spines[:].set_visible(True)
    panel.axhline(0, color=PALE, linewidth=0.6, zorder=0)
    panel.axvline(0, color=PALE, linewidth=0.6, zorder=0)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10], integer=True))


def _draw_before(panel: Axes, groups: Groups) -> None:
    cross = {"color": GREY, "markersize": 4, "markeredgewidth": 0.7}
    rows, columns = zip(*groups, strict=True) if groups else ((), ())
    panel.plot(columns, rows, "+", zorder=1, **cross)


def _draw_trained(panel: Axes, groups: Groups, most: int) -> None:
    """Circles whose area grows with the heads, and whose shade with their share."""
    edge = {"markeredgecolor": INK, "markeredgewidth": 0.5}
    for (row, column), shares in groups.items():
        beyond = (len(shares) - 1) / max(1, most - 1)
        size = (_SMALLEST**2 + beyond * (_LARGEST**2 - _SMALLEST**2)) ** 0.5
        colour = _SHADES(sum(shares) / len(shares))
        panel.plot(
            column, row, "o", markersize=size, markerfacecolor=colour, zorder=2, **edge
        )
