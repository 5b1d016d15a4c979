"""Draws the figures of a study that show no single variant's attention."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from reattn.config import Study, Variant, load_resolved, results_folder
from reattn.errors import ReattnError
from reattn.figures.comparison import draw_comparison
from reattn.figures.constructed import draw_constructed
from reattn.figures.curves import draw_curves
from reattn.figures.diagrams import draw_diagrams

Chart = Callable[[str, Study, Mapping[str, Variant], Path], None]

_HISTORY = (
    *("epoch", "learning_rate", "train_loss", "train_accuracy", "test_accuracy_eval"),
)


def draw_charts(study: str, kind: str) -> None:
    """Draw the diagrams, curves, comparison or constructed task of a study.

    Raises:
        ConfigError: there is no such study.
        ReattnError: there is no such kind, or a table is missing, torn or foreign.
    """
    if kind not in CHARTS:
        raise ReattnError(f"There are no charts {kind!r}; known: {', '.join(CHARTS)}.")
    settings, variants = load_resolved(study)
    folder = results_folder(study) / "figures" / kind
    CHARTS[kind](study, settings, variants, folder)


def _diagrams(
    study: str, settings: Study, variants: Mapping[str, Variant], folder: Path
) -> None:
    draw_diagrams(folder)


def _curves(
    study: str, settings: Study, variants: Mapping[str, Variant], folder: Path
) -> None:
    histories = {
        (variant_id, variant.label): _histories(study, variant_id, settings.seeds)
        for variant_id, variant in variants.items()
    }
    draw_curves(histories, folder, settings.reduced)


def _histories(
    study: str, variant_id: str, seeds: Sequence[int]
) -> dict[int, pd.DataFrame]:
    runs = results_folder(study) / "runs" / variant_id
    paths = {seed: runs / f"seed{seed}" / "history.csv" for seed in seeds}
    remedy = "Delete it to leave the run out, or train the run again."
    tables = {
        seed: _read_table(path, _HISTORY, remedy)
        for seed, path in paths.items()
        if path.exists()
    }
    return {seed: table for seed, table in tables.items() if len(table)}


def _comparison(
    study: str, settings: Study, variants: Mapping[str, Variant], folder: Path
) -> None:
    path = results_folder(study) / "tables" / "models.csv"
    remedy = f"Make it: python -m reattn tables {study}"
    if not path.exists():
        raise ReattnError(f"{path} is missing. {remedy}")
    models = _read_table(path, ("variant", "label"), remedy)
    if models.empty or models[["variant", "label"]].isna().any(axis=None):
        raise ReattnError(f"{path} has no rows, or some without a name. {remedy}")
    judged = path.with_name("published.csv")
    published = None
    if judged.exists():
        again = f"Make it: python -m reattn claims {study}"
        published = _read_table(judged, ("variant", "low", "high"), again)
    draw_comparison(models, folder, settings.reduced, published)


def _constructed(
    study: str, settings: Study, variants: Mapping[str, Variant], folder: Path
) -> None:
    draw_constructed(results_folder(study))


def _read_table(path: Path, needed: Sequence[str], remedy: str) -> pd.DataFrame:
    """A table that has these columns; variants and labels are read as text.

    Raises:
        ReattnError: the file is no such table.
    """
    try:
        if path.read_bytes()[-1:] not in (b"\n", b""):
            raise ReattnError(f"{path} ends in the middle of a row. {remedy}")
        table = pd.read_csv(path, dtype={"variant": str, "label": str})
    except (ValueError, OSError) as fault:  # all of pandas' faults are ValueErrors
        reason = str(fault).strip().rstrip(".")
        raise ReattnError(f"{path} is not a table ({reason}). {remedy}") from None
    missing = [column for column in needed if column not in table]
    if missing:
        raise ReattnError(f"{path} lacks {', '.join(missing)}. {remedy}")
    return table


CHARTS: dict[str, Chart] = {
    "diagrams": _diagrams,
    "curves": _curves,
    "comparison": _comparison,
    "constructed": _constructed,
}
