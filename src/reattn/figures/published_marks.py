"""Which accuracies stand beside the published ones, and what is said of them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reattn.figures.catalogue import FigureRecord
from reattn.figures.style import BLUE, GREEN, VERMILION
from reattn.figures.wording import in_whole

TITLE = "Published accuracies beside the measured ones"
HOW = (
    "Lines: of the last epoch, the interval of the accuracy; of the authors' "
    "protocol, where one more run is expected, if several runs were made.",
    "Published numbers follow the authors' protocol: compare them with the squares.",
)
SCALES = (
    "The published ones were made at the report's size, those of this study were not: "
    "the distance between them judges neither."
)


@dataclass(frozen=True)
class Mark:
    """One accuracy of a model: where it stands, how it looks, where it is shown.

    Attributes:
        name: In the key.
        column: Of the table.
        ends: Columns of its interval's ends, if it has any.
        aside: How far below the middle of the row it is drawn, in rows.
        style: Of the point.
    """

    name: str
    column: str
    ends: tuple[str, str] | None
    aside: float
    style: Mapping[str, object]


MARKS = (
    Mark(
        "measured, last epoch",
        "accuracy_mean",
        ("accuracy_ci_low", "accuracy_ci_high"),
        -0.17,
        {"marker": "o", "color": BLUE},
    ),
    Mark(
        "measured, authors' protocol",
        "accuracy_authors_mean",
        ("one_run_low", "one_run_high"),
        0.17,
        {"marker": "s", "color": GREEN, "markerfacecolor": "white"},
    ),
    Mark(
        "published",
        "published_accuracy",
        None,
        0.17,
        {"marker": "D", "color": VERMILION},
    ),
)


def with_expected_runs(models: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The table of models with where one more run is expected, as far as known.

    Args:
        models: tables/models.csv.
        published: tables/published.csv; without rows where claims are not judged.
    """
    if published.empty:
        return models.assign(one_run_low=np.nan, one_run_high=np.nan)
    ends = published[["variant", "low", "high"]]
    names = {"low": "one_run_low", "high": "one_run_high"}
    return models.merge(ends.rename(columns=names), how="left", on="variant")


def published_record(reduced: str | None) -> FigureRecord:
    """What figures.json says of the figure."""
    sentences = [f"{TITLE}.", *HOW, *([SCALES] if reduced else [])]
    alt = "A row a model: its accuracies and what was published, on one axis."
    caption = in_whole(sentences, reduced)
    return FigureRecord("published.svg", "published", caption, alt)
