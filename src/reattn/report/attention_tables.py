"""The table of what was measured of the models' attention."""

from collections.abc import Callable

from reattn.report import numbers
from reattn.report.captioned import captioned_table
from reattn.report.context import Context
from reattn.report.markdown import Markdown
from reattn.report.numbering import Numbering
from reattn.report.provenance import of
from reattn.report.tables import Column
from reattn.tables.cells import NOT_AVAILABLE

Row = dict[str, str]
METRICS: dict[str, tuple[str, Callable[[numbers.Cell], str]]] = {
    "self_mass": ("On itself", numbers.share),
    "elsewhere": ("Largest elsewhere", numbers.share),
    "entropy": ("Entropy, nats", numbers.two_decimals),
    "distance": ("Distance, pixels", numbers.two_decimals),
    "concentration": ("At one shift", numbers.share),
    "asymmetry": ("Asymmetry", numbers.share),
    "layer_difference": ("Between layers, bits", numbers.three_decimals),
}


def attention_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Means over layers and heads, after training and before it."""
    columns = [
        Column("Model", "left"),
        *(
            Column(words, source=f"{metric}_trained")
            for metric, (words, _) in METRICS.items()
        ),
    ]
    rows = [_row(context, row) for row in context.measured_attention]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models",
        "tables/attention.csv",
    )


def _row(context: Context, row: Row) -> list[object]:
    return [
        of(row["variant"], row["label"]),
        *(_cell(row, metric, context.measured_before_training) for metric in METRICS),
    ]


def _cell(row: Row, metric: str, with_initial: bool) -> str:
    _, shown = METRICS[metric]
    trained, initial = row[f"{metric}_trained"], row[f"{metric}_initial"]
    if trained == NOT_AVAILABLE:
        return NOT_AVAILABLE
    return f"{shown(trained)} ({shown(initial)})" if with_initial else shown(trained)
