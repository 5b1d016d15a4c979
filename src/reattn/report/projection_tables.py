"""The tables of queries, keys and values: the constructed task, and the models."""

from reattn.report import numbers
from reattn.report.attention_tables import METRICS
from reattn.report.captioned import captioned_table
from reattn.report.context import Context
from reattn.report.markdown import Markdown
from reattn.report.numbering import Numbering
from reattn.report.provenance import of, with_status
from reattn.report.tables import Column
from reattn.tables.cells import NOT_AVAILABLE

Row = dict[str, str]
INTERVAL = "difference_low,difference_high"
OF_NO_STUDY = "Made-up tokens, no images; no setting of a study enters."
PARTS = ("mean", "min", "max")
SHOWN = ("self_mass", "elsewhere", "entropy", "distance", "asymmetry")


def constructed_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """What each form of scores reaches in the constructed task."""
    columns = [
        Column("Scores", "left"),
        Column("Symmetric", "left", "symmetric"),
        Column("Right answers", source=_spread("accuracy")),
        Column("At most", source="accuracy_bound"),
        Column("Largest on itself, before", source=_spread("self_largest_initial")),
        Column("after training", source=_spread("self_largest_trained")),
        Column("Seeds", source="n_seeds"),
    ]
    rows = [
        [
            of((), row["label"], row=row["scores"]),
            row["symmetric"],
            _range(row, "accuracy"),
            numbers.share(row["accuracy_bound"]),
            _range(row, "self_largest_initial"),
            _range(row, "self_largest_trained"),
            row["n_seeds"],
        ]
        for row in context.tables["constructed"]
    ]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models",
        "tables/constructed.csv",
        OF_NO_STUDY,
    )


def _spread(name: str) -> str:
    """The columns that `_range` shows."""
    return ",".join(f"{name}_{part}" for part in PARTS)


def _range(row: Row, name: str) -> str:
    """The mean over seeds, and the extremes where they differ."""
    parts = [row[f"{name}_{part}"] for part in PARTS]
    if NOT_AVAILABLE in parts:
        return NOT_AVAILABLE
    shown = [numbers.share(part) for part in parts]
    if shown[1] == shown[2]:
        return shown[0]
    low, high = (part.removesuffix(" %") for part in shown[1:])
    return f"{shown[0]} ({low}–{high})"


def projections_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Which maps there are, how large the model is, and how accurate."""
    columns = [
        Column("Model", "left"),
        Column("Maps", "left"),
        Column("Positions", "left"),
        Column("Width", source="width"),
        Column("Parameters", source="params"),
        Column("GFLOPs", source="flops"),
        Column("Accuracy, %", source="accuracy_mean"),
        Column("Difference", source="difference"),
        Column(
            f"{numbers.CONFIDENCE} interval", source="difference_low,difference_high"
        ),
        Column("Kind of interval", "left"),
        Column("Runs", source="n_seeds"),
    ]
    rows = [_model(context, row) for row in context.tables["projections"]]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models landscape",
        "tables/projections.csv",
    )


def _model(context: Context, row: Row) -> list[object]:
    return [
        of(row["variant"], row["label"]),
        row["projections"],
        row["position_term"],
        row["width"],
        numbers.count(row["params"]),
        numbers.gigaflops(row["flops"]),
        with_status(context, row["variant"], numbers.percent(row["accuracy_mean"])),
        numbers.points(row["difference"]),
        numbers.interval(row["difference_low"], row["difference_high"], numbers.points),
        row["difference_kind"],
        row["n_seeds"],
    ]


def projections_attention_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """What becomes of attention, after training and before it."""
    columns = [
        Column("Model", "left"),
        *(Column(METRICS[name][0], source=name) for name in SHOWN),
    ]
    rows = [
        [of(row["variant"], row["label"]), *(_both(row, name) for name in SHOWN)]
        for row in context.tables["projections"]
    ]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models",
        "tables/projections.csv",
    )


def _both(row: Row, name: str) -> str:
    _, shown = METRICS[name]
    trained, initial = shown(row[name]), shown(row[f"{name}_initial"])
    return trained if trained == NOT_AVAILABLE else f"{trained} ({initial})"
