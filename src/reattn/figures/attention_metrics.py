"""What was measured of a variant's attention, as one compact figure.

Above, metrics against layers, a dot a head; below, the fixed shift at which each
head's attention is most concentrated, a panel a layer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reattn.attention.metric_files import (
    ALL,
    INITIAL,
    METRICS,
    NOT_AVAILABLE,
    TRAINED,
    metrics_path,
    read_attention_metrics,
)
from reattn.figures.attention_metrics_shifts import draw_shifts, shifts_height
from reattn.figures.catalogue import FigureRecord, write_catalogue
from reattn.figures.headings import LINE, draw_text, small_print
from reattn.figures.style import (
    BLUE,
    GREY,
    INK,
    SMALL,
    WIDTH,
    inset,
    new_sheet,
    styled,
)
from reattn.figures.svg import save_svg
from reattn.figures.wording import in_whole

Rows = Sequence[Mapping[str, str]]

KIND, FILE = "attention-metrics", "metrics.svg"
_PANEL, _HEIGHT, _LEFT = 3.05, 2.7, 0.85


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
_DEFINITIONS = (
    "A dot is a head, the line the mean of heads{runs}.",
    "On itself: the share of its attention that a query gives to itself. Distance: how "
    "far keys lie from their query, weighted by attention. Entropy: 0 if a query "
    "attends to one key, larger the more keys share its attention. At one shift: the "
    "share at the one fixed shift, from query to key, that holds most over all queries "
    "and images; 100 % would be a tap of a convolution.",
    "Below: where that shift lies.",
)


def draw_attention_metrics(
    results: Path, variant_id: str, label: str, *, reduced: str | None = None
) -> list[dict]:
    """Draw measure/attention/<variant>.csv as SVG, and figures.json about it.

    Args:
        results: The study's folder; the figure goes to its
            figures/attention-metrics/<variant>.
        variant_id: The variant.
        label: Its name on the page.
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
    lines = _lines(rows, results.name)
    caption = in_whole([f"Attention of {label} by layer.", *lines], reduced)
    alt = f"Four metrics of the attention of {label} against layers, trained and before"
    record = FigureRecord(FILE, KIND, caption, f"{alt}.", variant_id, label)
    with styled():
        figure = _figure(rows, label, lines, reduced)
        save_svg(figure, folder / FILE, title=record.alt)
    return write_catalogue(folder, [record])
