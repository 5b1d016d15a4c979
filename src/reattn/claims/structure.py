"""Findings about sizes, operations and memory."""

from reattn.claims.evidence import Evidence
from reattn.claims.verdicts import EXACT, Finding


def ratio(evidence: Evidence, pair: tuple[str, str], column: str) -> Finding:
    """A column of models.csv, the second variant's over the first one's."""
    first, second = pair
    subject = f"{second} over {first}"
    below, why_below = evidence.cell(first, column)
    above, why_above = evidence.cell(second, column)
    if below is None or above is None:
        reasons = dict.fromkeys(filter(None, (why_below, why_above)))
        return Finding(subject, None, reason="; ".join(reasons))
    if not below:
        return Finding(subject, None, reason=f"{first}: {column} is 0")
    cells = f"tables/models.csv, {column} of {first} and {second}"
    return Finding(subject, above / below, count=1, kind=EXACT, cells=cells)
