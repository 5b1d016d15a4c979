"""The tables of settings, runs and deviations."""

from reattn.report import numbers
from reattn.report.captioned import captioned_table
from reattn.report.context import Context
from reattn.report.markdown import Markdown, code, escape
from reattn.report.numbering import Numbering
from reattn.report.provenance import of
from reattn.report.tables import Column
from reattn.tables.cells import NOT_AVAILABLE

Row = dict[str, str]
AUGMENTATIONS = {
    "crop-flip": "crop, flip",
    "flip": "flip",
    "crop-flip-rotation-jitter": "crop, flip, rotation, jitter",
}
FOLLOWED = {
    "yes": "as the authors",
    "no": "not followed",
    "partly": "partly",
    "beside": "beside the headline",
    "unused": "not used",
}


def architecture_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Sizes of every model."""
    headings = ("Heads", "Width", "Feed-forward", "Layers", "Stages", "Patch")
    settings = ("heads", "width", "feed_forward", "layers", "stages", "patch_size")
    columns = [
        Column("Model", "left"),
        *(
            Column(heading, source=source)
            for heading, source in zip(
                (*headings, "Dropout"), (*settings, "attention_dropout"), strict=True
            )
        ),
    ]
    rows = [
        [
            of(row["variant"], row["label"]),
            *(_setting(row[key]) for key in settings),
            _setting(row["attention_dropout"]),
        ]
        for row in context.tables["hyperparameters"]
    ]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models",
        "tables/hyperparameters.csv",
    )


def training_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """How every model is trained in this study."""
    columns = [
        Column("Model", "left"),
        Column("Epochs", source="epochs"),
        Column("Warm-up", source="warmup_epochs"),
        Column("Batch (micro)", source="batch"),
        Column("Rate", source="learning_rate"),
        Column("Momentum", source="momentum"),
        Column("Decay", source="weight_decay"),
        Column("Smoothing", source="label_smoothing"),
        Column("Random changes", "left"),
    ]
    rows = [_training_row(row) for row in context.tables["hyperparameters"]]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models",
        "tables/hyperparameters.csv",
    )


def _training_row(row: Row) -> list[object]:
    settings = ("learning_rate", "momentum", "weight_decay", "label_smoothing")
    return [
        of(row["variant"], row["label"]),
        row["epochs"],
        row["warmup_epochs"],
        f"{row['batch']} ({row['micro_batch']})",
        *(numbers.plain(row[key]) for key in settings),
        AUGMENTATIONS.get(row["augmentation"], row["augmentation"]),
    ]


def _setting(cell: str) -> str:
    return "–" if cell == NOT_AVAILABLE else numbers.plain(cell)


def runs_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """One row a run: what became of it, and where its log lies."""
    columns = [
        Column("Model", "left"),
        Column("Seed"),
        Column("Status", "left"),
        Column("Accuracy, %", source="accuracy"),
        Column("Epochs", source="epochs_run"),
        Column("Images seen", source="image_passes"),
        Column("Time", source="train_seconds"),
        Column("Log", "left"),
    ]
    rows = [_run_row(context, row) for row in context.tables["runs"]]
    return captioned_table(
        context,
        numbering,
        identifier,
        text,
        columns,
        rows,
        "models",
        file="tables/runs.csv",
    )


def _run_row(context: Context, row: Row) -> list[object]:
    return [
        of(
            row["variant"],
            context.models[row["variant"]].label,
            seed=row["seed"],
        ),
        row["seed"],
        row["status"],
        numbers.percent(row["accuracy"]),
        row["epochs_run"],
        numbers.count(row["image_passes"]),
        numbers.duration(row["train_seconds"]),
        log_link(row["wandb_run"]),
    ]


def log_link(where: str) -> Markdown:
    """A link to a tracked run, or the path of an offline one."""
    if where == NOT_AVAILABLE:
        return Markdown("not tracked")
    if where.startswith("https://"):
        return Markdown(f"[W&B](<{where}>)")
    return code(where)


def variants_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """One row a variant: id, label, file and what distinguishes it."""
    columns = [Column(name, "left") for name in ("Id", "Label", "Settings")]
    rows = [
        [
            Markdown(f"{code(row['id'])} {code(row['file'])}"),
            of(row["id"], row["label"]),
            _settings(row),
        ]
        for row in context.tables["variants"]
    ]
    return captioned_table(
        context, numbering, identifier, text, columns, rows, "variants"
    )


def _settings(row: Row) -> Markdown:
    if row["overrides"] == NOT_AVAILABLE:
        return escape(row["settings"])
    changes = escape(row["overrides"])
    return Markdown(f"{escape(row['settings'])}; *changed by the study: {changes}*")


def deviations_table(
    context: Context, numbering: Numbering, identifier: str, text: str
) -> Markdown:
    """Every deviation: what the code does, should do, and what is done here."""
    columns = [
        Column("Id", "left"),
        Column("Severity", "left"),
        Column("What the code does, and where", "left"),
        Column("What was intended", "left"),
        Column("Effect", "left"),
        Column("Here", "left"),
    ]
    rows = [
        [
            entry["id"],
            entry["severity"],
            Markdown(f"{escape(entry['does'])} {code(entry['place'])}"),
            entry["should"],
            entry["effect"],
            _handled(entry),
        ]
        for entry in context.deviations
    ]
    return captioned_table(
        context, numbering, identifier, text, columns, rows, "deviations"
    )


def _handled(entry: Row) -> Markdown:
    shown = f"**{FOLLOWED[entry['followed']]}**: {escape(entry['status'])}"
    setting = f" Setting: {code(entry['setting'])}." if entry["setting"] else ""
    why = entry.get("unpriced")
    priced = f" Not priced: {escape(why)}." if why else ""
    return Markdown(f"{shown}.{setting}{priced}")
