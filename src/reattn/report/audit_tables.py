"""The tables of what the authors' deviations cost, and of depth."""

from reattn.report import numbers
from reattn.report.captioned import captioned_table
from reattn.report.context import Context
from reattn.report.markdown import Markdown
from reattn.report.numbering import Numbering
from reattn.report.provenance import of, with_status
from reattn.report.tables import Column
from reattn.tables.evaluations import ALL

Row = dict[str, str]
SIDES = ("accuracy_with", "accuracy_without")


def audit_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Accuracy with each deviation and with it put right."""
    columns = [
        Column("Deviation and model", "left"),
        Column("With it, %", source="accuracy_with"),
        Column("Put right, %", source="accuracy_without"),
        Column("Difference", source="difference"),
        Column(f"{numbers.CONFIDENCE} interval", source="low,high"),
        Column("Runs", source="n"),
        Column("Kind of interval", "left"),
    ]
    rows = [_audit(context, row) for row in context.priced]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models",
        "tables/audit.csv",
    )


def _audit(context: Context, row: Row) -> list[object]:
    return [
        of((row["variant"], row["twin"]), f"{row['deviation']}: {row['label']}"),
        with_status(context, row["variant"], numbers.percent(row["accuracy_with"])),
        with_status(context, row["twin"], numbers.percent(row["accuracy_without"])),
        numbers.points(row["difference"]),
        numbers.interval(row["low"], row["high"], numbers.points),
        row["n"],
        row["interval_kind"],
    ]


def evaluations_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """The same runs, evaluated in training mode (D3), and by their best (D4)."""
    columns = [
        Column("Model", "left"),
        Column("Training mode, %", source="accuracy_with"),
        Column("Evaluation mode, %", source="accuracy_without"),
        Column("D3", source="difference"),
        Column("Best, %", source="accuracy_with"),
        Column("Last, %", source="accuracy_without"),
        Column("D4", source="difference"),
        Column("Runs", source="n"),
    ]
    rows = [_evaluation(pair) for pair in context.evaluations]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models",
        "tables/audit.csv",
    )


def _evaluation(pair: tuple[Row, Row]) -> list[object]:
    mode, best = pair
    runs = "" if mode["variant"] == ALL else mode["n"]
    return [
        of(mode["variant"], mode["label"]),
        *(numbers.percent(mode[side]) for side in SIDES),
        numbers.points(mode["difference"]),
        *(numbers.percent(best[side]) for side in SIDES),
        numbers.points(best["difference"]),
        runs or f"{mode['n']} models",
    ]


def depth_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Parameters, peak memory of a training step and accuracy by depth."""
    columns = [
        Column("Model", "left"),
        Column("Layers", source="layers"),
        Column("Parameters", source="params"),
        Column("Memory of a step, MiB", source="training_memory_mb"),
        Column("Images a step", source="memory_batch"),
        Column("Accuracy, %", source="accuracy_mean"),
    ]
    rows = [_depth(context, row) for row in context.tables["depth"]]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models",
        "tables/depth.csv",
    )


def _depth(context: Context, row: Row) -> list[object]:
    return [
        of(row["variant"], row["label"]),
        row["layers"],
        numbers.count(row["params"]),
        numbers.count(row["training_memory_mb"]),
        numbers.count(row["memory_batch"]),
        with_status(
            context,
            row["variant"],
            context.models[row["variant"]].accuracy_with_interval,
        ),
    ]
