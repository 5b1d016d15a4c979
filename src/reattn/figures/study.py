"""Draws the figures of a study from its arrays and tables."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from reattn.attention.arrays import load_arrays
from reattn.config import load_resolved, results_folder
from reattn.errors import ReattnError
from reattn.figures.attention import draw_attention_figures
from reattn.figures.comparison import draw_comparison
from reattn.figures.curves import draw_curves
from reattn.figures.diagrams import draw_diagrams


def draw_variant(study: str, variant_id: str) -> None:
    """Draw a variant's attention into results/<study>/figures/attention/<variant>.

    Raises:
        ReattnError: the arrays are missing or not ours.
    """
    results = results_folder(study)
    arrays = load_arrays(results / "attention" / f"{variant_id}.npz")
    draw_attention_figures(arrays, results / "figures" / "attention" / variant_id)


def draw_charts(study: str, kind: str) -> None:
    """Draw the diagrams, curves or comparison of a study.

    Raises:
        ReattnError: there is no such kind, or a table is missing.
    """
    if kind not in CHARTS:
        raise ReattnError(f"There are no charts {kind!r}; known: {', '.join(CHARTS)}.")
    CHARTS[kind](study, results_folder(study) / "figures" / kind)


def _diagrams(study: str, folder: Path) -> None:
    draw_diagrams(folder)


def _curves(study: str, folder: Path) -> None:
    settings, variants = load_resolved(study)
    histories = {
        (variant_id, variant.label): _histories(study, variant_id, settings.seeds)
        for variant_id, variant in variants.items()
    }
    draw_curves(histories, folder, settings.reduced)


def _histories(study: str, variant_id: str, seeds: list[int]) -> dict:
    runs = results_folder(study) / "runs" / variant_id
    paths = {seed: runs / f"seed{seed}" / "history.csv" for seed in seeds}
    tables = {seed: pd.read_csv(path) for seed, path in paths.items() if path.exists()}
    return {seed: table for seed, table in tables.items() if len(table)}


def _comparison(study: str, folder: Path) -> None:
    settings, _ = load_resolved(study)
    path = results_folder(study) / "tables" / "models.csv"
    if not path.exists():
        raise ReattnError(
            f"{path} is missing. Make it: python -m reattn tables {study}"
        )
    draw_comparison(pd.read_csv(path), folder, settings.reduced)


CHARTS: dict[str, Callable[[str, Path], None]] = {
    "diagrams": _diagrams,
    "curves": _curves,
    "comparison": _comparison,
}
