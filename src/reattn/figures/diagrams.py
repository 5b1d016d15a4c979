"""Ordinary and hierarchical attention as diagrams (Figs. 6 and 7 of the report).

Both show the flow through the first layers, so that what they share and what they
do not stands in the same place in each.
"""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reattn.figures.catalogue import FigureRecord, write_catalogue
from reattn.figures.shapes import arrow, box, panel
from reattn.figures.style import (
    BLUE,
    GREEN,
    GREY,
    NORMAL,
    PURPLE,
    SMALL,
    VERMILION,
    new_sheet,
    styled,
)
from reattn.figures.svg import save_svg

LAYERS = 3
_COLUMN, _GAP, _EDGE = 4.85, 0.27, 0.1
_KEY, _QUERY, _VALUE = 2.35, 3.25, 4.15  # cm from the top: the rows of a layer
_BUS, _MAP, _WIDE = 0.95, (0.9, 0.62), 1.2
_FORMULA = "softmax\n$(QK$ᵀ$)$\n$\\times\\, V$"
_TOP, _BOTTOM, _HEIGHT = 1.35, 4.75, 5.75

_ORDINARY = FigureRecord(
    "ordinary-attention.svg",
    "diagram",
    "Ordinary attention. Every layer has weights of its own and computes its queries "
    "Q, keys K and values V from its own input. Residual connections and "
    "normalisation are left out.",
    "Three layers from left to right. In each, the input goes through the layer's "
    "own key, query and value weights into attention, then through its own "
    "feed-forward part.",
)
_HIERARCHICAL = FigureRecord(
    "hierarchical-attention.svg",
    "diagram",
    "Hierarchical attention. One set of weights serves all layers. The keys K are "
    "computed once, by the first layer, and passed on unchanged; queries Q and values "
    "V are computed anew from each layer's input. Residual connections and "
    "normalisation are left out.",
    "Three layers from left to right, all with the same weights. The keys of the "
    "first layer run along the top into the attention of every layer; the later "
    "layers compute only queries and values.",
)


def draw_diagrams(folder: Path | str) -> list[dict]:
    """Draw both diagrams as SVG; return the entries of figures.json."""
    folder = Path(folder)
    with styled():
        drawn = [
            (_ORDINARY, draw_ordinary((BLUE, GREEN, VERMILION))),
            (_HIERARCHICAL, draw_hierarchical(PURPLE)),
        ]
        for record, figure in drawn:
            save_svg(figure, folder / record.file, title=record.alt)
    return write_catalogue(folder, [record for record, _ in drawn])


def draw_ordinary(colours: Sequence[str]) -> Figure:
    """Layers with weights of their own, a colour a layer."""
    unused = 0.5  # cm above, where the other diagram passes keys on
    figure, sheet = new_sheet(_HEIGHT - unused)
    sheet.set_ylim(_HEIGHT, unused)
    for layer, colour in enumerate(colours):
        _draw_layer(sheet, layer, colour)
        _draw_legend(sheet, _left(layer), colour, f"weights of layer {layer + 1} only")
    heading = "Each layer computes its own keys, queries and values"
    sheet.text(_EDGE, 1.05, heading, size=NORMAL, va="baseline")
    return figure


def draw_hierarchical(colour: str) -> Figure:
    """Layers with the same weights, and the keys of the first passed on."""
    figure, sheet = new_sheet(_HEIGHT)
    for layer in range(LAYERS):
        _draw_layer(sheet, layer, colour, shared=True)
        if layer:
            _tap_keys(sheet, layer)
    start, end = _attention(0) - 0.25, _left(LAYERS - 1) + _COLUMN
    arrow(sheet, [(start, _KEY), (start, _BUS), (end, _BUS)], width=1.8)
    heading = "Keys K: computed in layer 1, passed on unchanged"
    sheet.text(_EDGE, 0.5, heading, size=NORMAL, va="baseline")
    _draw_legend(sheet, _left(0), colour, "one set of weights, the same in every layer")
    return figure


def _left(layer: int) -> float:
    return _EDGE + layer * (_COLUMN + _GAP)


def _attention(layer: int) -> float:
    """Left edge of a layer's attention box."""
    return _left(layer) + 2.55


def _draw_layer(sheet: Axes, layer: int, colour: str, *, shared: bool = False) -> None:
    left, attention = _left(layer), _attention(layer)
    panel(sheet, left, _TOP, _COLUMN, _BOTTOM - _TOP, f"Layer {layer + 1}")
    box(sheet, left + 0.12, _QUERY - 0.3, (0.5, 0.6), f"$x_{layer + 1}$")
    number = "" if shared else f"^{layer + 1}"
    for name, y in {"K": _KEY, "Q": _QUERY, "V": _VALUE}.items():
        if name == "K" and shared and layer:
            note = {"size": SMALL, "color": GREY, "va": "center"}
            sheet.text(left + 0.9, y, "no new keys", **note)
        else:
            _draw_projection(sheet, layer, y, name, number, colour)
    top, height = _KEY - 0.35, _VALUE - _KEY + 0.7
    box(sheet, attention, top, (_WIDE, height), _FORMULA)
    forward = attention + _WIDE + 0.27
    style = {"colour": colour, "rotation": 90}
    box(sheet, forward, top, (0.6, height), "Feed-forward", **style)
    arrow(sheet, [(attention + _WIDE, _QUERY), (forward, _QUERY)])
    end = left + _COLUMN + _GAP + 0.12
    arrow(sheet, [(forward + 0.6, _QUERY), (end, _QUERY)])
    if layer == LAYERS - 1:
        sheet.text(end + 0.08, _QUERY, "…", size=NORMAL, va="center_baseline")


def _draw_projection(
    sheet: Axes, layer: int, y: float, name: str, number: str, colour: str
) -> None:
    """Input, weights of one kind, and their product on its way to attention."""
    left, (width, height) = _left(layer), _MAP
    start, turn, weights = left + 0.62, left + 0.79, left + 0.98
    arrow(sheet, [(start, _QUERY), (turn, _QUERY), (turn, y), (weights, y)])
    label = f"$W_{name}{number}$"
    box(sheet, weights, y - height / 2, _MAP, label, colour=colour)
    arrow(sheet, [(weights + width, y), (_attention(layer), y)])
    middle = weights + width + 0.2
    sheet.text(middle, y - 0.1, f"${name}$", size=SMALL, ha="center", va="baseline")


def _tap_keys(sheet: Axes, layer: int) -> None:
    middle = _attention(layer) + _WIDE / 2
    arrow(sheet, [(middle, _BUS), (middle, _KEY - 0.35)], width=1.8)
    sheet.text(middle + 0.12, 1.78, "$K$", size=SMALL, va="baseline")


def _draw_legend(sheet: Axes, left: float, colour: str, text: str) -> None:
    box(sheet, left, 5.1, (0.4, 0.3), "", colour=colour)
    sheet.text(left + 0.52, 5.35, text, size=SMALL, va="baseline")
