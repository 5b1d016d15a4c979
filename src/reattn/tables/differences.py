"""Differences between variants, how sure they are, and what could be detected."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reattn.tables.statistics import (
    CONFIDENCE,
    Interval,
    accuracy_interval,
    mean,
    standard_deviation,
)

PAIRED = "paired t over seeds"
WELCH = "Welch's t over seeds"
OVER_IMAGES = "Newcombe's, of two proportions over test images"
NO_INTERVAL = "one run each, no interval"
ONE_ALONE = "one run on one side, no interval"
PREDICTION = "prediction interval for one run"
SIGNIFICANCE = 1 - CONFIDENCE
_LARGEST_EFFECT = 100.0  # in standard deviations
_ROUNDING = 1e-9  # of subtracted percentages


@dataclass(frozen=True)
class Difference:
    """A difference of mean accuracies, second minus first, in points.

    Attributes:
        value: The difference.
        low: Lower end of its 95 % interval, or None.
        high: Upper end, or None.
        first_count: Runs behind the first mean.
        second_count: Runs behind the second; both are the pairs where paired.
        kind: What the interval is taken over.
    """

    value: float
    low: float | None
    high: float | None
    first_count: int
    second_count: int
    kind: str


def difference(
    first: Mapping[int, float],
    second: Mapping[int, float],
    *,
    paired: bool,
    test_images: int | None = None,
) -> Difference | None:
    """Second minus first, with the interval that these runs allow.

    Several seeds: the paired t interval over the seeds that both have, or Welch's. One
    run on a side: Newcombe's interval over test images, which says nothing of other
    seeds, or none where their number is not known.

    Args:
        first: Accuracy by seed, in percent.
        second: Likewise.
        paired: Whether runs of equal seeds start alike and see the same images.
        test_images: Images behind each accuracy; None: not known.

    Returns:
        The difference, or None where a side has no run.
    """
    if paired:
        first, second = in_common(first, second)
    if not first or not second:
        return None
    before, after = list(first.values()), list(second.values())
    if min(len(before), len(after)) > 1:
        return _over_seeds(before, after, PAIRED if paired else WELCH)
    return _over_images(before, after, test_images)


def in_common(
    first: Mapping[int, float], second: Mapping[int, float]
) -> tuple[dict[int, float], dict[int, float]]:
    """Both sides, of the seeds that both have."""
    seeds = sorted(set(first) & set(second))
    return {seed: first[seed] for seed in seeds}, {seed: second[seed] for seed in seeds}


def _over_seeds(
    before: Sequence[float], after: Sequence[float], kind: str
) -> Difference:
    from scipy.stats import ttest_ind, ttest_rel

    value = mean(after) - mean(before)
    if _constant(before, after, kind):
        low = high = value
    elif kind == PAIRED:
        low, high = ttest_rel(after, before).confidence_interval(CONFIDENCE)
    else:
        test = ttest_ind(after, before, equal_var=False)
        low, high = test.confidence_interval(CONFIDENCE)
    return Difference(value, float(low), float(high), len(before), len(after), kind)


def _constant(before: Sequence[float], after: Sequence[float], kind: str) -> bool:
    """Whether there is no spread, of which scipy would warn."""
    sides = [before, after]
    if kind == PAIRED:
        sides = [[b - a for a, b in zip(before, after, strict=True)]]
    return all(max(side) - min(side) < _ROUNDING for side in sides)


def _over_images(
    before: Sequence[float], after: Sequence[float], images: int | None
) -> Difference:
    """Newcombe's interval from the two of Wilson; images count as independent.

    Source: Newcombe (1998), Statistics in Medicine 17, 873-890, method 10.
    """
    value = mean(after) - mean(before)
    counts = (len(before), len(after))
    if counts != (1, 1):
        return Difference(value, None, None, *counts, ONE_ALONE)
    if not images:
        return Difference(value, None, None, *counts, NO_INTERVAL)
    first, second = (accuracy_interval(side, images) for side in (before, after))
    low = value - math.hypot(after[0] - second.low, first.high - before[0])
    high = value + math.hypot(second.high - after[0], before[0] - first.low)
    return Difference(value, low, high, *counts, OVER_IMAGES)


def prediction_interval(values: Sequence[float]) -> Interval | None:
    """Where one more run is expected: mean -+ t s sqrt(1 + 1 / n).

    Args:
        values: One accuracy a run, in percent.

    Returns:
        The 95 % interval, or None for fewer than two runs.
    """
    from scipy.stats import t

    spread = standard_deviation(values)
    if spread is None:
        return None
    count, centre = len(values), mean(values)
    quantile = float(t.ppf((1 + CONFIDENCE) / 2, count - 1))
    half = quantile * spread * math.sqrt(1 + 1 / count)
    return Interval(centre - half, centre + half, PREDICTION)


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact two-sided p, that two models err equally often.

    Source: McNemar (1947), exact form: a binomial test of the images that one of the
    two alone gets right.

    Args:
        only_first: Images that the first alone gets right.
        only_second: Images that the second alone gets right.
    """
    from scipy.stats import binomtest

    differing = only_first + only_second
    return float(binomtest(only_first, differing).pvalue) if differing else 1.0


def smallest_detectable(count: int, *, paired: bool, power: float = 0.8) -> float:
    """The true difference that a two-sided t test at 5 % finds with this power.

    Args:
        count: Pairs, or runs on each side; at least 2.
        paired: In standard deviations of the differences within pairs; otherwise in
            those of runs.
        power: How often it is found.
    """
    from scipy.optimize import brentq

    freedom = count - 1 if paired else 2 * (count - 1)
    scale = math.sqrt(count if paired else count / 2)

    def lacking(effect: float) -> float:
        return _power(effect * scale, freedom) - power

    return float(brentq(lacking, 0, _LARGEST_EFFECT))


def _power(noncentrality: float, freedom: int) -> float:
    """How often |t| exceeds its critical value; 1 where scipy cannot tell any more."""
    from scipy.stats import nct, t

    critical = t.ppf(1 - SIGNIFICANCE / 2, freedom)
    found = nct.sf(critical, freedom, noncentrality)
    found += nct.cdf(-critical, freedom, noncentrality)
    return 1.0 if math.isnan(found) else float(found)
