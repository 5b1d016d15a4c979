"""From an interval and a bound to a verdict, and from several verdicts to one."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

SUPPORTED = "supported"
CONTRADICTED = "contradicted"
INCONCLUSIVE = "inconclusive"
NOT_TESTED = "not tested"
BY_CONSTRUCTION = "true by construction"
EXACT = "exact"
PUBLISHED = "published numbers, one run each, no interval"
MEASURED_ONCE = "one measurement, no interval"
POINTS = (EXACT, PUBLISHED, MEASURED_ONCE)  # judged as they stand


@dataclass(frozen=True)
class Finding:
    """One number that a claim is judged by.

    Attributes:
        subject: Whose it is: a variant, or a pair.
        value: The number, or None where it was not measured.
        low: Lower end of its 95 % interval, or None.
        high: Upper end, or None.
        runs: How many runs of each variant are behind it; empty where none need be.
        kind: What the interval is taken over, or why there is none; `exact` for what
            has no chance in it.
        cells: File, rows and columns that it was taken from.
        reason: Why there is no value.
    """

    subject: str
    value: float | None
    low: float | None = None
    high: float | None = None
    runs: Mapping[str, int] = field(default_factory=dict)
    kind: str = EXACT
    cells: str = ""
    reason: str = ""

    @property
    def count(self) -> int:
        """The fewest runs of a variant; 0 where no run is behind it."""
        return min(self.runs.values(), default=0)


def within(
    finding: Finding,
    at_least: float | None = None,
    at_most: float | None = None,
    *,
    strict: bool = False,
) -> str:
    """The verdict on a number that should lie between two bounds.

    Supported where the whole interval lies between them, contradicted where the whole
    interval lies beyond one of them, else inconclusive. An exact number is its own
    interval, and published numbers and sizes are judged as they stand; an accuracy
    of this study without an interval decides nothing.

    Args:
        finding: The number.
        at_least: The lower bound, or None.
        at_most: The upper bound, or None.
        strict: Whether a number on a bound lies beyond it.
    """
    if finding.value is None:
        return NOT_TESTED
    low, high = finding.low, finding.high
    if finding.kind in POINTS:
        low = high = finding.value
    if low is None or high is None:
        return INCONCLUSIVE
    beyond = operator.le if strict else operator.lt
    below = at_least is not None and beyond(high, at_least)
    above = at_most is not None and beyond(at_most, low)
    if below or above:
        return CONTRADICTED
    reaches_below = at_least is not None and beyond(low, at_least)
    reaches_above = at_most is not None and beyond(at_most, high)
    return INCONCLUSIVE if reaches_below or reaches_above else SUPPORTED


def all_of(verdicts: Sequence[str]) -> str:
    """The verdict on a claim that holds only if it holds in every case.

    One case that contradicts it is enough; otherwise the least clear case decides.
    """
    for verdict in (CONTRADICTED, NOT_TESTED, INCONCLUSIVE):
        if verdict in verdicts:
            return verdict
    return SUPPORTED if verdicts else NOT_TESTED


def named_seeds(seeds: Iterable[int]) -> str:
    """`seed 0`, or `seeds 0, 1`."""
    listed = [str(seed) for seed in sorted(seeds)]
    return f"seed{'' if len(listed) == 1 else 's'} {', '.join(listed)}"
