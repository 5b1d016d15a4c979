"""Published accuracies beside the interval in which one more run is expected."""

from collections.abc import Iterator

from reattn.claims.evidence import Evidence
from reattn.claims.verdicts import (
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_TESTED,
    SUPPORTED,
    Finding,
)
from reattn.tables.cells import Row
from reattn.tables.differences import PREDICTION, prediction_interval
from reattn.tables.statistics import mean

COLUMNS = (
    *("variant", "published", "half_digit", "measured_mean", "n", "low", "high"),
    *("interval_kind", "verdict", "reason"),
)
HALF_DIGIT = 0.005  # published accuracies have two decimals
AT_THIS_SCALE = "not tested at this scale"
ONE_RUN = "one run gives no interval for the next"


def published_finding(evidence: Evidence, variant: str) -> tuple[Finding, str]:
    """Our accuracy by the authors' protocol, and whether the published one fits.

    It fits when it lies, give or take half its last digit, in the prediction interval
    for one run. One run of ours decides nothing.

    Args:
        evidence: The study.
        variant: A variant with a published accuracy.
    """
    values = evidence.authors_accuracies(variant)
    if not values:
        reason = evidence.absence(variant) or f"not evaluated: {variant}"
        return Finding(variant, None, reason=reason), NOT_TESTED
    interval = prediction_interval(values)
    cells = f"tables/runs.csv, accuracy_authors of {variant}"
    count = len(values)
    if interval is None:
        found = Finding(
            variant, mean(values), None, None, count, ONE_RUN, cells, ONE_RUN
        )
        return found, INCONCLUSIVE
    bounds = (interval.low, interval.high)
    found = Finding(variant, mean(values), *bounds, count, PREDICTION, cells)
    published = evidence.published[variant].accuracy
    fits = bounds[0] - HALF_DIGIT <= published <= bounds[1] + HALF_DIGIT
    return found, SUPPORTED if fits else CONTRADICTED


def published_rows(evidence: Evidence) -> Iterator[Row]:
    """One row a published accuracy."""
    for variant, number in evidence.published.items():
        if number.accuracy is None:
            continue
        found, verdict = published_finding(evidence, variant)
        reason = found.reason
        if evidence.study.reduced and verdict != NOT_TESTED:
            verdict, reason = NOT_TESTED, AT_THIS_SCALE
        row = Row(variant=variant, published=number.accuracy, half_digit=HALF_DIGIT)
        row.put("measured_mean", found.value, reason)
        row.put("n", found.count, "")
        row.put("low", found.low, reason or found.kind)
        row.put("high", found.high, reason or found.kind)
        known = found.low is not None
        row.put("interval_kind", found.kind if known else None, reason)
        row.put("verdict", verdict, "")
        yield row
