"""Accuracy, size and time of models, and of each beside its hierarchical version."""

from pathlib import Path

import pandas as pd

from reattn.config.paths import APART
from reattn.figures.catalogue import FigureRecord, write_catalogue
from reattn.figures.dot_rows import Pair, draw_rows
from reattn.figures.published import draw_published
from reattn.figures.published_marks import published_record, with_expected_runs
from reattn.figures.style import styled
from reattn.figures.svg import save_svg
from reattn.figures.wording import in_whole

_ALL = "Accuracy, parameters and time of all models"
_PAIRS = "Ordinary models and their hierarchical versions"
_BARS = (
    "Bars: the interval of an accuracy; of a time, one standard deviation of "
    "repeated passes."
)
_TIME = "Time: one image a pass, plain form of the model, inference."
_ABSENT = "n/a: not measured, for the reason that the table of models gives."


def draw_comparison(
    models: pd.DataFrame,
    folder: Path | str,
    reduced: str | None,
    published: pd.DataFrame | None = None,
) -> list[dict]:
    """Draw tables/models.csv: all models, pairs, and each beside what is published.

    Args:
        models: The table; cells without a number are shown as n/a. A hierarchical
            model's partner stands in the column `ordinary`, if there is one, or is
            the variant whose id lacks the `ha-`.
        folder: Where to.
        reduced: How the study falls short of the report, if it does.
        published: tables/published.csv, if claims have been judged.

    Returns:
        The entries of figures.json, of kinds models, comparison and published.
    """
    folder = Path(folder)
    models = without_apart(models)
    pairs = _pairs(models)
    later = {pair[1]["variant"] for pair in pairs}
    rows = [
        (row["label"], (None, row) if _is_hierarchical(row, later) else (row, None))
        for _, row in models.iterrows()
    ]
    drawn = [(_record("models.svg", "models", _ALL, reduced), rows)]
    if pairs:
        record = _record("hierarchical.svg", "comparison", _PAIRS, reduced)
        drawn.append((record, [(pair[0]["label"], pair) for pair in pairs]))
    records = [record for record, _ in drawn]
    with styled():
        for record, entries in drawn:
            figure = draw_rows(entries, record.alt, f"{_TIME} {_BARS}", reduced)
            save_svg(figure, folder / record.file, title=record.alt)
        records += _draw_published(models, folder, reduced, published)
    return write_catalogue(folder, records)


def _draw_published(
    models: pd.DataFrame,
    folder: Path,
    reduced: str | None,
    published: pd.DataFrame | None,
) -> list[FigureRecord]:
    """Nothing where nothing is published."""
    if "published_accuracy" not in models:
        return []
    if pd.to_numeric(models["published_accuracy"], errors="coerce").isna().all():
        return []
    known = pd.DataFrame() if published is None else published
    figure = draw_published(with_expected_runs(models, known), reduced)
    record = published_record(reduced)
    save_svg(figure, folder / record.file, title=record.alt)
    return [record]


def without_apart(models: pd.DataFrame) -> pd.DataFrame:
    """Models without twins, projections and depths, which have tables of their own.

    A study that has nothing else keeps all of its models.
    """
    if "group" not in models:
        return models
    chosen = models[~models["group"].isin(APART)]
    return chosen if len(chosen) else models


def _pairs(models: pd.DataFrame) -> list[Pair]:
    by_variant = {row["variant"]: row for _, row in models.iterrows()}
    pairs = []
    for variant, row in by_variant.items():
        ordinary = row.get("ordinary")
        if not isinstance(ordinary, str):
            ordinary = variant.removeprefix("ha-")
        if ordinary != variant and ordinary in by_variant:
            pairs.append((by_variant[ordinary], row))
    return pairs


def _is_hierarchical(row: pd.Series, later: set[str]) -> bool:
    marked = str(row.get("hierarchical")).lower() in ("true", "yes", "1")
    return marked or row["variant"] in later


def _record(file: str, kind: str, alt: str, reduced: str | None) -> FigureRecord:
    accuracy = "Accuracy: test images, last epoch, eval mode."
    sentences = [f"{alt}.", accuracy, _TIME, _BARS, _ABSENT]
    return FigureRecord(file, kind, in_whole(sentences, reduced), alt)
