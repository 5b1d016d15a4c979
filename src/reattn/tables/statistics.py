"""How sure an accuracy is: over seeds, or over the test images of one run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
OVER_SEEDS = "t over seeds"
OVER_IMAGES = "binomial (Wilson) over test images"


@dataclass(frozen=True)
class Interval:
    """A 95 % confidence interval in percent, and what it is taken over."""

    low: float
    high: float
    kind: str


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean.

    Raises:
        ValueError: there is no value.
    """
    if not values:
        raise ValueError("the mean of no values does not exist")
    return math.fsum(values) / len(values)


def standard_deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation (n - 1), or None for fewer than two values."""
    if len(values) < 2:
        return None
    centre = mean(values)
    squares = math.fsum((value - centre) ** 2 for value in values)
    return math.sqrt(squares / (len(values) - 1))


def accuracy_interval(
    accuracies: Sequence[float], test_images: int | None
) -> Interval | None:
    """The interval of a mean accuracy, in percent.

    Several seeds: Student's t interval of their mean, which covers the chance of
    initialisation and order. One seed: Wilson's binomial interval, which covers
    only the choice of test images and says nothing of other seeds.

    Args:
        accuracies: One accuracy a seed, in percent.
        test_images: Images behind each accuracy; None: not known.

    Returns:
        The interval, or None where it cannot be known.
    """
    if len(accuracies) > 1:
        return _over_seeds(accuracies)
    if len(accuracies) == 1 and test_images:
        return _over_images(accuracies[0], test_images)
    return None


def _over_seeds(accuracies: Sequence[float]) -> Interval:
    from scipy.stats import t

    count = len(accuracies)
    centre, spread = mean(accuracies), standard_deviation(accuracies) or 0.0
    quantile = float(t.ppf((1 + CONFIDENCE) / 2, count - 1))
    half = quantile * spread / math.sqrt(count)
    return Interval(max(0.0, centre - half), min(100.0, centre + half), OVER_SEEDS)


def _over_images(accuracy: float, test_images: int) -> Interval:
    from scipy.stats import binomtest

    correct = round(accuracy / 100 * test_images)
    interval = binomtest(correct, test_images).proportion_ci(CONFIDENCE, "wilson")
    return Interval(100 * interval.low, 100 * interval.high, OVER_IMAGES)
