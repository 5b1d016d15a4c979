"""The cells of tables/audit.csv that every way to price a deviation fills in."""

from collections.abc import Mapping
from statistics import median

from reattn.tables.cells import Row
from reattn.tables.differences import (
    PAIRED,
    Difference,
    mcnemar,
    smallest_detectable,
)
from reattn.tables.statistics import mean, standard_deviation

TESTS = ("only_with_right", "only_without_right", "mcnemar_p")
BY_AUTHORS = ("authors_difference", "authors_low", "authors_high")
COLUMNS = (
    *("deviation", "title", "variant", "label", "twin", "twin_label", "n"),
    *("accuracy_with", "accuracy_without", "difference", "low", "high"),
    *BY_AUTHORS,
    *("interval_kind", *TESTS, "by_seed", "median_difference", "sign_p", "detectable"),
    *("status", "reason"),
)
PAIR_BY_PAIR = ("median_difference", "sign_p", "detectable")
MEASURED = "measured"
NOT_TESTED = "not tested"


def put_difference(
    row: Row,
    with_it: Mapping[int, float],
    without: Mapping[int, float],
    found: Difference | None,
    why: str,
) -> None:
    """Fill in both mean accuracies, their difference and its interval.

    Args:
        row: The row.
        with_it: Accuracies with the deviation, in percent.
        without: Accuracies with it put right.
        found: Their difference, `without` minus `with_it`.
        why: Why there is none.
    """
    row.put("n", min(found.first_count, found.second_count) if found else 0, "")
    row.put("accuracy_with", mean([*with_it.values()]) if with_it else None, why)
    row.put("accuracy_without", mean([*without.values()]) if without else None, why)
    row.put("difference", found.value if found else None, why)
    no_interval = found.kind if found else why
    row.put("low", found.low if found else None, no_interval)
    row.put("high", found.high if found else None, no_interval)
    row.put("interval_kind", found.kind if found else None, why)
    paired = found is not None and found.kind == PAIRED
    pairs = _by_seed(with_it, without) if paired else None
    row.put("by_seed", pairs, no_interval)
    beside = _beside_the_mean(with_it, without) if paired else {}
    for column in PAIR_BY_PAIR:
        row.put(column, beside.get(column), no_interval)
    row.put("status", MEASURED if found else NOT_TESTED, "")


def _beside_the_mean(
    with_it: Mapping[int, float], without: Mapping[int, float]
) -> dict[str, float | None]:
    """What a mean of pairs may hide: their median, and how many of them gain.

    The exact sign test asks nothing of how differences are distributed. `detectable` is
    the true difference that a t test of so many pairs, as spread as these, would find
    four times out of five.
    """
    gains = [without[seed] - with_it[seed] for seed in sorted(with_it)]
    spread = standard_deviation(gains)
    higher = sum(gain > 0 for gain in gains)
    lower = sum(gain < 0 for gain in gains)
    return {
        "median_difference": median(gains),
        "sign_p": mcnemar(higher, lower),
        "detectable": spread * smallest_detectable(len(gains), paired=True),
    }


def _by_seed(with_it: Mapping[int, float], without: Mapping[int, float]) -> str:
    """The difference of every pair, as `seed 0: 1.25; seed 1: -0.5`."""
    gains = {seed: without[seed] - with_it[seed] for seed in sorted(with_it)}
    return "; ".join(f"seed {seed}: {round(gain, 4):g}" for seed, gain in gains.items())
