"""Differences and their intervals, against textbooks and identities."""

import math

import pytest
from scipy.stats import nct, t

from reattn.tables.differences import (
    NO_INTERVAL,
    ONE_ALONE,
    OVER_IMAGES,
    PAIRED,
    PREDICTION,
    WELCH,
    difference,
    in_common,
    mcnemar,
    prediction_interval,
    smallest_detectable,
)
from reattn.tables.statistics import accuracy_interval

# Student (1908), "The Probable Error of a Mean", table of hours of sleep that two
# drugs gained for ten patients.
DRUG_1 = (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
DRUG_2 = (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)


def by_seed(*values: float) -> dict[int, float]:
    return dict(enumerate(values))


def test_paired_interval_of_students_own_example():
    """1.58 hours, 95 % interval 0.70 to 2.46, as R's sleep data give."""
    found = difference(by_seed(*DRUG_1), by_seed(*DRUG_2), paired=True)
    assert (found.kind, found.first_count, found.second_count) == (PAIRED, 10, 10)
    assert found.value == pytest.approx(1.58)
    assert found.low == pytest.approx(0.7001142, abs=1e-6)
    assert found.high == pytest.approx(2.4598858, abs=1e-6)


def test_welch_interval_of_students_own_example():
    """The same numbers as two independent groups: -0.21 to 3.37."""
    found = difference(by_seed(*DRUG_1), by_seed(*DRUG_2), paired=False)
    assert found.kind == WELCH
    assert found.value == pytest.approx(1.58)
    assert found.low == pytest.approx(-0.2054832, abs=1e-6)
    assert found.high == pytest.approx(3.3654832, abs=1e-6)


def test_welch_of_equal_data_is_symmetric_around_zero():
    """No side is favoured."""
    same = by_seed(60.0, 62.0, 61.0)
    found = difference(same, same, paired=False)
    assert found.value == 0
    assert found.low == pytest.approx(-found.high)
    assert found.high > 0


def test_exchanged_sides_change_the_sign_alone():
    """A loss is as sure as a gain."""
    first, second = by_seed(60.0, 63.0, 61.0), by_seed(64.0, 62.5, 66.0)
    for paired in (True, False):
        gain = difference(first, second, paired=paired)
        loss = difference(second, first, paired=paired)
        assert gain.value == pytest.approx(-loss.value)
        assert (gain.low, gain.high) == pytest.approx((-loss.high, -loss.low))


def test_pairs_are_of_equal_seeds():
    """Order in a mapping is no pairing, and a seed of one side alone is none."""
    first, second = {2: 70.0, 0: 60.0, 1: 50.0}, {0: 61.0, 2: 71.5, 5: 90.0}
    assert in_common(first, second) == ({0: 60.0, 2: 70.0}, {0: 61.0, 2: 71.5})
    found = difference(first, second, paired=True)
    assert (found.value, found.first_count) == (pytest.approx(1.25), 2)
    assert difference(first, second, paired=False).first_count == 3


def test_no_runs_have_no_difference():
    """Neither an empty side nor seeds that nobody shares."""
    assert difference({}, by_seed(60.0), paired=False) is None
    assert difference({0: 60.0}, {1: 61.0}, paired=True) is None


@pytest.mark.filterwarnings("error")
def test_differences_without_spread_have_an_interval_without_width():
    """Neither NaN nor a warning, though 13.9 - 12.7 is not 38.1 - 36.9 in floats."""
    pairs = difference(by_seed(36.9, 12.7), by_seed(38.1, 13.9), paired=True)
    groups = difference(by_seed(60.1, 60.1), by_seed(61.3, 61.3), paired=False)
    for found in (pairs, groups):
        assert (found.low, found.value, found.high) == pytest.approx((1.2,) * 3)


def test_newcombe_of_his_own_example():
    """10 of 10 against 0 of 10: 0.6075 to 1 (Newcombe 1998, table II, h)."""
    found = difference({0: 0.0}, {0: 100.0}, paired=False, test_images=10)
    assert found.kind == OVER_IMAGES
    assert found.low == pytest.approx(60.75, abs=0.005)
    assert found.high == pytest.approx(100)


def test_newcombe_joins_the_two_intervals_of_wilson():
    """Each end lies as far out as both proportions' ends that lead there, squared."""
    found = difference({0: 60.0}, {0: 82.0}, paired=False, test_images=100)
    first, second = (accuracy_interval([each], 100) for each in (60.0, 82.0))
    below = math.hypot(82 - second.low, first.high - 60)
    above = math.hypot(second.high - 82, 60 - first.low)
    assert (found.low, found.high) == pytest.approx((22 - below, 22 + above))
    assert below != pytest.approx(above)


def test_one_run_each_says_that_it_says_nothing_of_seeds():
    """Its kind is named; unknown images and a lonely run give no interval."""
    one, several = {0: 60.0}, by_seed(61.0, 62.0)
    over_images = difference(one, {0: 70.0}, paired=True, test_images=1000)
    assert over_images.kind == OVER_IMAGES
    assert over_images.low < over_images.value == 10 < over_images.high
    unknown = difference(one, {0: 70.0}, paired=True)
    assert (unknown.kind, unknown.low, unknown.high) == (NO_INTERVAL, None, None)
    lonely = difference(one, several, paired=False, test_images=1000)
    assert (lonely.kind, lonely.low, lonely.value) == (ONE_ALONE, None, 1.5)


@pytest.mark.parametrize("count", [2, 3, 8])
def test_prediction_is_wider_than_confidence_by_the_exact_factor(count):
    """sqrt(1 + 1 / n) against sqrt(1 / n): sqrt(n + 1)."""
    values = [60.0 + place**1.5 for place in range(count)]
    mean, run = accuracy_interval(values, None), prediction_interval(values)
    factor = (run.high - run.low) / (mean.high - mean.low)
    assert factor == pytest.approx(math.sqrt(count + 1))
    assert (run.high + run.low) / 2 == pytest.approx(sum(values) / count)
    assert run.kind == PREDICTION


def test_one_run_predicts_nothing():
    """There is no spread to go by."""
    assert prediction_interval([60.0]) is None


def test_mcnemar_counts_coins():
    """2 of 12 heads or as rare: 2 (1 + 12 + 66) / 2^12; symmetric; nothing: 1."""
    assert mcnemar(2, 10) == pytest.approx(2 * 79 / 4096)
    assert mcnemar(10, 2) == mcnemar(2, 10)
    assert mcnemar(7, 7) == mcnemar(0, 0) == 1


@pytest.mark.parametrize(
    ("count", "paired", "expected"),
    # Cohen (1988), table 2.3.5: 17 a group for d = 1 at power 0.8.
    [(3, True, 3.26), (8, True, 1.156), (17, False, 1.0)],
)
def test_smallest_detectable(count, paired, expected):
    """Known sizes of samples, and the power that was asked for."""
    found = smallest_detectable(count, paired=paired)
    assert found == pytest.approx(expected, abs=0.01)
    freedom = count - 1 if paired else 2 * (count - 1)
    noncentrality = found * math.sqrt(count if paired else count / 2)
    critical = t.ppf(0.975, freedom)
    assert nct.sf(critical, freedom, noncentrality) == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize("count", [2, 3, 5, 30, 300])
def test_smallest_detectable_is_always_a_number(count):
    """scipy gives NaN for large effects, at which the search begins."""
    for paired in (True, False):
        assert math.isfinite(smallest_detectable(count, paired=paired))


def test_what_can_be_detected_shrinks_with_runs_and_grows_with_power():
    """More runs see smaller differences; being surer asks for larger ones."""
    sizes = [smallest_detectable(count, paired=True) for count in (3, 4, 8, 16)]
    assert sizes == sorted(sizes, reverse=True)
    assert smallest_detectable(8, paired=True, power=0.9) > sizes[2]
