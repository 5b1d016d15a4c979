"""What was measured of a variant's attention, as one compact figure.

Above, metrics against layers, a dot a head; below, the fixed shift at which each
head's attention is most concentrated, a panel a layer.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from reattn.attention.metric_files import (
    ALL,
    INITIAL,
    METRICS,
    NOT_AVAILABLE,
    metrics_path,
    read_attention_metrics,
)
from reattn.figures.attention_metrics_panels import PANELS, draw_key, draw_panel
from reattn.figures.attention_metrics_shifts import draw_shifts, shifts_height
from reattn.figures.catalogue import FigureRecord, write_catalogue
from reattn.figures.headings import LINE, draw_text, small_print
from reattn.figures.style import WIDTH, inset, new_sheet, styled
from reattn.figures.svg import save_svg
from reattn.figures.wording import in_whole

Rows = Sequence[Mapping[str, str]]

KIND, FILE = "attention-metrics", "metrics.svg"
_PANEL, _HEIGHT, _LEFT = 3.05, 2.7, 0.85  # cm
_DEFINITIONS = (
    "On itself: the share of its attention that a query gives to itself. Distance: how "
    "far keys lie from their query, weighted by attention. Entropy: 0 if a query "
    "attends to one key, larger the more keys share its attention. At one shift: the "
    "share at the one fixed shift from query to key that holds most, over all queries "
    "and images; 100 % would be a tap of a convolution. The lower panels show that "
    "shift, the query in the middle. Dotted: attention to all keys alike."
)
_LOCAL = (
    "Here a head is a channel of weights, a layer an attention call, and a patch a "
    "place of its map."
)


def draw_attention_metrics(
    results: Path,
    variant_id: str,
    label: str,
    *,
    uniform: Mapping[str, float] | None = None,
    local: bool = False,
    reduced: str | None = None,
) -> list[dict]:
    """Draw measure/attention/<variant>.csv as SVG, and figures.json about it.

    Args:
        results: The study's folder; the figure goes to its
            figures/attention-metrics/<variant>.
        variant_id: The variant.
        label: Its name on the page.
        uniform: Metrics that attention to all keys alike has, where they are known.
        local: Whether it is attention over neighbourhoods.
        reduced: How the study falls short of the report, if it does.

    Returns:
        The entries of figures.json: one of kind attention-metrics; or one of kind
        none, whose caption is the reason.

    Raises:
        ReattnError: the file of metrics is missing, torn or foreign.
    """
    path = metrics_path(results, variant_id)
    folder = results / "figures" / KIND / variant_id
    everything = read_attention_metrics(path)
    rows = [row for row in everything if row[PANELS[0].metric] != NOT_AVAILABLE]
    if not rows:
        reason = f"{label}: {_why_not(everything)}."
        record = FigureRecord(None, "none", reason, "", variant_id, label)
        return write_catalogue(folder, [record])
    line = _line(rows, results.name)
    caption = f"Attention of {label} by layer."
    words = [caption, line, _DEFINITIONS, *([_LOCAL] if local else [])]
    caption = in_whole(words, reduced)
    before = " and before" if any(row["state"] == INITIAL for row in rows) else ""
    alt = f"Four metrics of the attention of {label} against layers, trained{before}"
    record = FigureRecord(FILE, KIND, caption, f"{alt}.", variant_id, label)
    with styled():
        text = small_print([line], reduced, WIDTH - 0.1)
        figure = _figure(rows, label, text, uniform or {})
        save_svg(figure, folder / FILE, title=record.alt)
    return write_catalogue(folder, [record])


def _why_not(rows: Rows) -> str:
    """What every row gives as the reason that it has no metric."""
    metric = METRICS[0]
    parts = [part.split(": ", 1) for row in rows for part in row["reason"].split(" | ")]
    found = [why for names, why in parts if metric in names.split(", ")]
    return "; ".join(dict.fromkeys(found))


def _line(rows: Rows, study: str) -> str:
    seeds = sorted({int(row["seed"]) for row in rows})
    runs, plural = (" and runs", "seeds") if len(seeds) > 1 else ("", "seed")
    images = max(int(row["images"]) for row in rows)
    return (
        f"A dot is a head, averaged over {images} test images; the line is the mean of "
        f"heads{runs}. Study {study}, {plural} {', '.join(map(str, seeds))}."
    )


def _figure(
    rows: Rows,
    label: str,
    text: list[tuple[str, str]],
    uniform: Mapping[str, float],
) -> Figure:
    top = 1.75 + LINE * len(text)
    heads = [row for row in rows if row["head"] != ALL]
    shifts = top + _HEIGHT + 0.95
    figure, sheet = new_sheet(shifts + shifts_height(heads))
    end = draw_text(sheet, f"{label}: attention by layer", text, 0.05, 0.1)
    draw_key(sheet, end + 0.45, bool(uniform))
    for number, shown in enumerate(PANELS):
        left = _LEFT + number * (WIDTH - 0.05) / len(PANELS)
        panel = inset(figure, left, top, _PANEL, _HEIGHT)
        draw_panel(panel, rows, shown, uniform.get(shown.metric))
    draw_shifts(figure, sheet, heads, shifts)
    return figure
