"""Findings about accuracies, measured and published."""

from collections.abc import Callable, Mapping

from reattn.claims.evidence import Evidence
from reattn.claims.verdicts import PUBLISHED, Finding, named_seeds
from reattn.tables.pairing import AUTHORS, HEADLINE
from reattn.tables.statistics import mean

Pair = tuple[str, str]
OF_FIRST = "in percent of the first mean, taken as known"


def measured_gain(
    evidence: Evidence, pair: Pair, unit: str, protocol: str = HEADLINE
) -> Finding:
    """How much more accurate the second of a pair is, in points or percent.

    Args:
        evidence: The study.
        pair: Two variants.
        unit: points, or percent of the first one's mean accuracy, whose own chance
            is small beside that of the difference and is left out.
        protocol: HEADLINE, or AUTHORS for the authors' protocol.
    """
    first, second = pair
    subject = f"{second} over {first}"
    if reason := evidence.absence(first, second):
        return Finding(subject, None, reason=reason)
    before = evidence.accuracies(first, protocol)
    after = evidence.accuracies(second, protocol)
    found = evidence.difference(first, second, protocol)
    if found is None:
        reason = f"no seed in common: {first}, {second}"
        return Finding(subject, None, reason=reason)
    scale = 100 / mean(list(before.values())) if unit == "percent" else 1.0
    kind = f"{found.kind}, {OF_FIRST}" if unit == "percent" else found.kind
    return Finding(
        subject,
        found.value * scale,
        None if found.low is None else found.low * scale,
        None if found.high is None else found.high * scale,
        {first: found.first_count, second: found.second_count},
        kind,
        f"tables/runs.csv, {protocol}: {_rows(first, before)}, {_rows(second, after)}",
    )


def authors_gain(evidence: Evidence, pair: Pair, unit: str) -> Finding:
    """The same by the authors' protocol of evaluation."""
    return measured_gain(evidence, pair, unit, AUTHORS)


def _rows(variant: str, by_seed: Mapping[int, float]) -> str:
    """Rows of tables/runs.csv in words."""
    return f"{variant} ({named_seeds(by_seed)})"


def published_gain(evidence: Evidence, pair: Pair, unit: str) -> Finding:
    """The same, of the authors' own numbers; they have no interval."""
    subject = f"{pair[1]} over {pair[0]}"
    numbers = [evidence.published_of(name) for name in pair]
    bare = [name for name, number in zip(pair, numbers, strict=True) if not number]
    if bare:
        reason = f"no published accuracy has a source: {', '.join(bare)}"
        return Finding(subject, None, reason=reason)
    first, second = (number.accuracy for number in numbers)
    gain = second - first
    return Finding(
        subject,
        100 * gain / first if unit == "percent" else gain,
        runs=dict.fromkeys(pair, 1),
        kind=PUBLISHED,
        cells=f"config/published.yaml, variants.{pair[0]} and variants.{pair[1]}",
    )


GAINS: Mapping[str, Callable[[Evidence, Pair, str], Finding]] = {
    "measured": measured_gain,
    "authors": authors_gain,
    "published": published_gain,
}
