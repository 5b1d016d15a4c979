"""Published accuracies beside the interval in which one more run is expected."""

from collections.abc import Iterator

from reattn.claims.evidence import Evidence
from reattn.claims.numbers import PublishedNumber
from reattn.claims.verdicts import (
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_TESTED,
    SUPPORTED,
    Finding,
    named_seeds,
)
from reattn.tables.cells import Row
from reattn.tables.differences import PREDICTION, prediction_interval
from reattn.tables.pairing import AUTHORS
from reattn.tables.statistics import mean

COLUMNS = (
    *("variant", "published", "half_digit", "measured_mean", "n", "low", "high"),
    *("interval_kind", "verdict", "published_status", "published_source", "reason"),
)
AT_THIS_SCALE = "not tested at this scale"
ONE_RUN = "one run gives no interval for the next"


def published_finding(evidence: Evidence, variant: str) -> tuple[Finding, str]:
    """Our accuracy by the authors' protocol, and whether the published one fits.

    It fits when it lies, give or take half its last digit, in the prediction interval
    for one run. One run of ours decides nothing. Studies that are not reduced have the
    published images and the authors' protocol.

    Args:
        evidence: The study.
        variant: A variant.
    """
    published = evidence.published_of(variant)
    if published is None:
        reason = f"no published accuracy has a source: {variant}"
        return Finding(variant, None, reason=reason), NOT_TESTED
    subject = f"{variant} (published {published.text})"
    by_seed = evidence.accuracies(variant, AUTHORS)
    if not by_seed:
        reason = evidence.absence(variant) or f"not evaluated: {variant}"
        return Finding(subject, None, reason=reason), NOT_TESTED
    found = _finding(subject, variant, by_seed)
    return found, _verdict(found, published)


def _finding(subject: str, variant: str, by_seed: dict[int, float]) -> Finding:
    values = list(by_seed.values())
    interval = prediction_interval(values)
    low, high = (interval.low, interval.high) if interval else (None, None)
    seeds = named_seeds(by_seed)
    cells = f"tables/runs.csv, accuracy_authors: {variant} ({seeds})"
    kind = PREDICTION if interval else ONE_RUN
    return Finding(
        subject, mean(values), low, high, {variant: len(values)}, kind, cells
    )


def _verdict(found: Finding, published: PublishedNumber) -> str:
    if found.low is None or found.high is None:
        return INCONCLUSIVE
    half = published.half_digit
    fits = found.low - half <= published.accuracy <= found.high + half
    return SUPPORTED if fits else CONTRADICTED


def published_rows(evidence: Evidence) -> Iterator[Row]:
    """One row a published accuracy."""
    for number in evidence.published:
        if number.is_of_variant:
            found, verdict = published_finding(evidence, number.name)
        else:
            found = Finding(number.name, None, reason=number.apart)
            verdict = NOT_TESTED
        reason = found.reason
        if evidence.study.reduced and found.value is not None:
            verdict, reason = NOT_TESTED, AT_THIS_SCALE
        yield _row(number, found, verdict, reason)


def _row(number: PublishedNumber, found: Finding, verdict: str, reason: str) -> Row:
    row = Row(variant=number.name, published=number.text, half_digit=number.half_digit)
    row.put("measured_mean", found.value, reason)
    row.put("n", found.count, "")
    for column in ("low", "high"):
        row.put(column, getattr(found, column), reason or found.kind)
    known = found.low is not None
    row.put("interval_kind", found.kind if known else None, reason or found.kind)
    row.put("verdict", verdict, "")
    row.put("published_status", number.status, "")
    row.put("published_source", number.source, "")
    if why := reason or (found.kind if verdict == INCONCLUSIVE else ""):
        row.note("verdict", why)
    return row
