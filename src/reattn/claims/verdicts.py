"""From an interval and a bound to a verdict, and from several verdicts to one."""

from collections.abc import Sequence
from dataclasses import dataclass

SUPPORTED = "supported"
CONTRADICTED = "contradicted"
INCONCLUSIVE = "inconclusive"
NOT_TESTED = "not tested"
BY_CONSTRUCTION = "true by construction"
EXACT = "exact"


@dataclass(frozen=True)
class Finding:
    """One number that a claim is judged by.

    Attributes:
        subject: Whose it is: a variant, or a pair.
        value: The number, or None where it was not measured.
        low: Lower end of its 95 % interval, or None.
        high: Upper end, or None.
        count: Runs behind it.
        kind: What the interval is taken over; `exact` for what has no chance in it.
        cells: File, rows and columns that it was taken from.
        reason: Why there is no value.
    """

    subject: str
    value: float | None
    low: float | None = None
    high: float | None = None
    count: int = 0
    kind: str = EXACT
    cells: str = ""
    reason: str = ""


def within(
    finding: Finding, at_least: float | None = None, at_most: float | None = None
) -> str:
    """The verdict on a number that should lie between two bounds.

    Supported where the whole interval lies between them, contradicted where the whole
    interval lies beyond one of them, else inconclusive. An exact number is its own
    interval; a measured one without an interval decides nothing.
    """
    if finding.value is None:
        return NOT_TESTED
    low, high = finding.low, finding.high
    if finding.kind == EXACT:
        low = high = finding.value
    if low is None or high is None:
        return INCONCLUSIVE
    below = at_least is not None and high < at_least
    above = at_most is not None and low > at_most
    if below or above:
        return CONTRADICTED
    reaches_down = at_least is not None and low < at_least
    reaches_up = at_most is not None and high > at_most
    return INCONCLUSIVE if reaches_down or reaches_up else SUPPORTED


def all_of(verdicts: Sequence[str]) -> str:
    """The verdict on a claim that holds only if it holds in every case.

    One case that contradicts it is enough; otherwise the least clear case decides.
    """
    for verdict in (CONTRADICTED, NOT_TESTED, INCONCLUSIVE):
        if verdict in verdicts:
            return verdict
    return SUPPORTED if verdicts else NOT_TESTED
