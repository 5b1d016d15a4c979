"""Where the numbers of a report's tables came from, for readers who ask of a cell."""

import json
from collections.abc import Sequence
from typing import Any

from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape
from reattn.tables.cells import NOT_AVAILABLE

Row = dict[str, str]
OF_A_RUN = (
    *("status", "accuracy", "accuracy_authors", "commit", "device", "threads"),
    *("precision", "epochs_run", "test_images", "data_source", "data_checksum"),
    *("fingerprint", "wandb_run"),
)

OF_A_MEASUREMENT = ("device_name", "threads", "precision", "iterations", "warmup")


def of(variants: str | Sequence[str], label: object, **more: str) -> Markdown:
    """A row's first cell, marked with the variants whose numbers the row holds.

    Args:
        variants: One id or several.
        label: What the cell shows.
        more: Further marks, such as the seed of one run.
    """
    names = variants if isinstance(variants, str) else " ".join(variants)
    marks = "".join(f' {name}="{value}"' for name, value in more.items())
    return Markdown(f'[{escape(label)}]{{of="{names}"{marks}}}')


def with_status(context: Context, variant: str, shown: str) -> str:
    """A number, and in brackets what became of runs that are not as they should be."""
    runs = [row for row in context.tables["runs"] if row["variant"] == variant]
    states = [row["status"] for row in runs]
    if "imported" in states and "ok" not in states:
        states = ["imported"]  # weights from elsewhere are all that there is
    words = [
        state if states.count(state) == len(states) else _part(state, states)
        for state in dict.fromkeys(states)
        if state != "ok"
    ]
    return f"{shown} ({', '.join(words)})" if words else shown


def _part(state: str, states: Sequence[str]) -> str:
    return f"{state} {states.count(state)} of {len(states)}"


def provenance(context: Context) -> str:
    """Every run behind the tables as JSON; what all runs share stands once."""
    rows = context.tables["runs"]
    shared = {
        key: rows[0][key]
        for key in OF_A_RUN
        if rows and all(row[key] == rows[0][key] for row in rows)
    }
    content = {
        "study": context.name,
        "reduced": context.study.reduced,
        "shared": _known(shared),
        "measurement": {
            key: context.measurement[key]
            for key in OF_A_MEASUREMENT
            if key in context.measurement
        },
        "models": {name: _model(context, name, shared) for name in context.models},
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")  # so that nothing in it ends the script


def _model(context: Context, name: str, shared: Row) -> dict[str, Any]:
    model = context.models[name]
    runs = [row for row in context.tables["runs"] if row["variant"] == name]
    return {
        "label": model.label,
        "group": model.cells["group"],
        "status": model.status,
        "reason": model.cells["status_reason"],
        "published": model.cells["published_source"],
        "runs": [
            {
                "seed": row["seed"],
                **_known({k: row[k] for k in OF_A_RUN if k not in shared}),
            }
            for row in runs
        ],
    }


def _known(cells: Row) -> Row:
    return {key: cell for key, cell in cells.items() if cell != NOT_AVAILABLE}
