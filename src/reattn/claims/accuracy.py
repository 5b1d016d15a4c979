"""Findings about accuracies, measured and published."""

from reattn.claims.evidence import Evidence
from reattn.claims.verdicts import EXACT, Finding
from reattn.tables.differences import difference


def measured_gain(evidence: Evidence, pair: tuple[str, str], unit: str) -> Finding:
    """How much more accurate the second of a pair is, in points or percent."""
    first, second = pair
    subject = f"{second} over {first}"
    if reason := evidence.absence(first, second):
        return Finding(subject, None, reason=reason)
    before, after = evidence.accuracies(first), evidence.accuracies(second)
    found = difference(
        before,
        after,
        paired=evidence.is_paired(first, second),
        test_images=evidence.test_images(first, second),
    )
    if found is None:
        return Finding(subject, None, reason=f"no seed in common: {first}, {second}")
    share = 100 * len(before) / sum(before.values()) if unit == "percent" else 1.0
    return Finding(
        subject,
        found.value * share,
        None if found.low is None else found.low * share,
        None if found.high is None else found.high * share,
        min(found.first_count, found.second_count),
        found.kind,
        f"tables/runs.csv, accuracy of {first} and {second}",
    )


def published_gain(evidence: Evidence, pair: tuple[str, str], unit: str) -> Finding:
    """The same, of the authors' own numbers; they have no interval."""
    subject = f"{pair[1]} over {pair[0]}"
    known = [evidence.published.get(name) for name in pair]
    numbers = [each.accuracy if each else None for each in known]
    bare = [n for n, x in zip(pair, numbers, strict=True) if x is None]
    if bare:
        reason = f"no published accuracy has a source: {', '.join(bare)}"
        return Finding(subject, None, reason=reason)
    first, second = numbers
    gain = second - first
    return Finding(
        subject,
        100 * gain / first if unit == "percent" else gain,
        count=1,
        kind=EXACT,
        cells=f"config/published.yaml, variants.{pair[0]} and variants.{pair[1]}",
    )
