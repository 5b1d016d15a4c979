"""The tables of measured results."""

from collections.abc import Sequence

from reattn.report import numbers
from reattn.report.captioned import captioned_table
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape, labels
from reattn.report.models import Model, Pair, absences
from reattn.report.numbering import Numbering
from reattn.report.provenance import of, with_status
from reattn.report.tables import Column
from reattn.tables.cells import NOT_AVAILABLE

AUTHORS_WAY = Markdown("Authors’ way ([D3, D4](#priced))")
ABSENT = {
    "accuracy_mean": "Accuracy",
    "accuracy_authors_mean": "Accuracy by the authors’ protocol",
    "published_accuracy": "Published accuracy",
    "params": "Number of parameters",
    "flops": "FLOPs",
    "wall_time_plain_ms_mean": "Wall time of the plain form",
    "wall_time_ms_mean": "Wall time of the shipped form",
}


def accuracy_table(
    context: Context,
    numbering: Numbering,
    identifier: str,
    models: Sequence[Model],
    text: str,
) -> Markdown:
    """Accuracy, published accuracy and size of some models (Tables 1 and 2)."""
    columns = [
        Column("Model", "left"),
        Column("Accuracy, %", source="accuracy_mean"),
        Column(AUTHORS_WAY, source="accuracy_authors_mean"),
        Column("Published", source="published_accuracy"),
        Column("Parameters", source="params"),
        Column("GFLOPs", source="flops"),
        Column("Seeds", source="n_seeds"),
        Column("Status", "left", "status"),
    ]
    rows = [_accuracy_row(context, model) for model in models]
    table = captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models",
        "tables/models.csv",
    )
    shown = [column for column in ABSENT if not column.startswith("wall")]
    notes = absences(models, {column: ABSENT[column] for column in shown})
    return Markdown("\n\n".join(filter(None, [table, notes])))


def _accuracy_row(context: Context, model: Model) -> list[object]:
    cells = model.cells
    mark = "†" if model.is_inferred else ""
    return [
        with_deviations(context, model.id, model.label),
        with_status(context, model.id, model.accuracy_with_interval),
        model.authors,
        model.published + mark,
        numbers.count(cells["params"]),
        numbers.gigaflops(cells["flops"]),
        f"{cells['n_seeds']} of {cells['seeds_planned']}",
        model.status.split(" (")[0],
    ]


def pairs_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Each model, its hierarchical version, and their differences (Table 3)."""
    columns = [
        Column("Model", "left"),
        Column("Accuracy, %", source="accuracy_mean"),
        Column(AUTHORS_WAY, source="accuracy_authors_mean"),
        Column("Published", source="published_accuracy"),
        Column("Parameters", source="params"),
        Column("Plain, ms", source="wall_time_plain_ms_mean"),
        Column("Shipped, ms", source="wall_time_ms_mean"),
    ]
    rows = [row for pair in context.pairs for row in _pair_rows(context, pair)]
    table = captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "pairs models",
        "tables/models.csv",
    )
    names = [name for pair in context.pairs for name in (pair.ordinary_id, pair.id)]
    models = [context.models[name] for name in names if name in context.models]
    shown = {column: words for column, words in ABSENT.items() if column != "flops"}
    notes = absences(models, shown, _not_here(context))
    return Markdown("\n\n".join(filter(None, [table, notes])))


def _not_here(context: Context) -> list[Markdown]:
    """Ordinary models of the pairs that the study does not have."""
    absent = [
        p.ordinary_id for p in context.pairs if p.ordinary_id not in context.models
    ]
    if not absent:
        return []
    names = labels(map(context.label_of, absent))
    return [
        Markdown(f"All of {names}, and what is compared with it: not in this study.")
    ]


def _pair_rows(context: Context, pair: Pair) -> list[list[object]]:
    ordinary = context.models.get(pair.ordinary_id)
    label = context.label_of(pair.ordinary_id)
    return [
        [
            with_deviations(context, pair.ordinary_id, label),
            *_model_cells(context, ordinary),
        ],
        [
            with_deviations(context, pair.id, pair.label),
            *_model_cells(context, context.models[pair.id]),
        ],
        [_difference_label(pair), *_difference_cells(pair)],
    ]


def _difference_label(pair: Pair) -> Markdown:
    """Marked with the pair, and with the row of hierarchical.csv."""
    models = (pair.id, pair.ordinary_id)
    return of(models, Markdown("*Difference*"), file="tables/hierarchical.csv")


def with_deviations(context: Context, variant: str, label: str) -> Markdown:
    """A model's label, and the deviations that its numbers contain, linked."""
    deviations = context.deviations_in(variant)
    links = [f"[{entry}](#{place})" for entry, place in deviations.items()]
    return of(variant, Markdown(" ".join([escape(label), *links])))


def _model_cells(context: Context, model: Model | None) -> list[object]:
    if model is None:
        return [NOT_AVAILABLE] * 6
    mark = "†" if model.is_inferred else ""
    return [
        with_status(context, model.id, model.accuracy),
        model.authors,
        model.published + mark,
        numbers.count(model.cells["params"]),
        _time(model, "wall_time_plain_ms"),
        _time(model, "wall_time_ms"),
    ]


def _time(model: Model, quantity: str) -> str:
    mean = model.cells[f"{quantity}_mean"]
    spread = model.cells[f"{quantity}_std"]
    if NOT_AVAILABLE in (mean, spread):
        return numbers.milliseconds(mean)
    return f"{numbers.milliseconds(mean)} ± {numbers.milliseconds(spread)}"


def _difference_cells(pair: Pair) -> list[object]:
    formats: dict[str, numbers.Format] = {
        "accuracy": numbers.points,
        "accuracy_authors": numbers.points,
        "published": numbers.points,
        "params": numbers.signed_count,
        "wall_time_plain_ms": numbers.signed_milliseconds,
        "wall_time_ms": numbers.signed_milliseconds,
    }
    return [_difference(pair, *item) for item in formats.items()]


def _difference(pair: Pair, quantity: str, shown: numbers.Format) -> Markdown:
    absolute = shown(pair.cells[f"{quantity}_difference"])
    if absolute == NOT_AVAILABLE:
        return Markdown(f"*{NOT_AVAILABLE}*")
    share = numbers.relative(pair.cells[f"{quantity}_difference_percent"])
    return Markdown(f"*{escape(absolute)} ({escape(share)})*")
