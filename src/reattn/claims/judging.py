"""From a claim and a study to a verdict, with all that it rests on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reattn.claims.accuracy import GAINS
from reattn.claims.attention import attention_findings
from reattn.claims.evidence import Evidence
from reattn.claims.published import AT_THIS_SCALE, published_finding
from reattn.claims.structure import ratio
from reattn.claims.verdicts import (
    BY_CONSTRUCTION,
    INCONCLUSIVE,
    MEASURED_ONCE,
    NOT_TESTED,
    POINTS,
    Finding,
    all_of,
    within,
)
from reattn.claims.wording import asked, joined
from reattn.config.claims import Claim
from reattn.config.predicates import (
    Attention,
    ByConstruction,
    Equivalent,
    Gain,
    MatchesPublished,
    Predicate,
    Ratio,
)

IN_THIS_SETTING = "in this reduced setting"


@dataclass(frozen=True)
class Part:
    """One number that was judged.

    Attributes:
        finding: The number.
        verdict: Its own verdict.
        reason: Why that is no clearer; empty where it is clear.
    """

    finding: Finding
    verdict: str
    reason: str = ""


@dataclass(frozen=True)
class Judgement:
    """A verdict and its parts.

    Attributes:
        verdict: One of `reattn.claims.verdicts`.
        threshold: What the claim asks for, in words.
        parts: Each number that was judged.
        reason: Why the verdict is no clearer, or what a reader must know beside it.
    """

    verdict: str
    threshold: str
    parts: Sequence[Part]
    reason: str = ""


def judge(claim: Claim, evidence: Evidence) -> Judgement:
    """The verdict on a claim by what a study measured.

    What was measured is told even where the study may not judge the claim.
    """
    predicate = claim.predicate
    if isinstance(predicate, ByConstruction):
        return Judgement(BY_CONSTRUCTION, asked(predicate), [], predicate.reason)
    judged = _PARTS[type(predicate)](predicate, evidence)
    parts = [_explained(part, claim.evidence.seeds) for part in judged]
    verdict = all_of([part.verdict for part in parts])
    reasons = [part.reason for part in parts]
    if claim.evidence.scale == "full" and evidence.study.reduced:
        verdict, reasons = NOT_TESTED, [AT_THIS_SCALE, *_missing(parts)]
    elif evidence.study.reduced and verdict != NOT_TESTED and _is_trained(parts):
        reasons.insert(0, IN_THIS_SETTING)
    variants = [name for part in parts for name in part.finding.runs]
    if stale := evidence.stale(variants):
        reasons.append(f"trained by other code than today's: {', '.join(stale)}")
    return Judgement(verdict, asked(predicate), parts, joined(reasons))


def _is_trained(parts: Sequence[Part]) -> bool:
    """Whether runs or measurements of this study's models are behind a number."""
    found = [part.finding for part in parts]
    return any(
        each.kind == MEASURED_ONCE or (each.runs and each.kind not in POINTS)
        for each in found
    )


def _missing(parts: Sequence[Part]) -> list[str]:
    return [part.finding.reason for part in parts if part.finding.value is None]


def _explained(part: Part, seeds: int) -> Part:
    """A part as the number of runs allows, with why it is no clearer."""
    found = part.finding
    short = {name: count for name, count in found.runs.items() if count < seeds}
    if found.value is not None and short:
        there = ", ".join(f"{name} has {count}" for name, count in short.items())
        reason = f"too few runs ({seeds} of each model are asked for): {there}"
        return replace(part, verdict=NOT_TESTED, reason=reason)
    if part.verdict == INCONCLUSIVE:
        contained = f"{found.subject}: the interval reaches over the threshold"
        reason = (
            contained if found.low is not None else f"{found.subject}: {found.kind}"
        )
        return replace(part, reason=reason)
    return replace(part, reason=found.reason)


def _gain(predicate: Gain, evidence: Evidence) -> list[Part]:
    measure = GAINS[predicate.numbers]
    strict = predicate.more_than is not None
    least = predicate.more_than if strict else predicate.at_least
    found = [measure(evidence, pair, predicate.unit) for pair in predicate.pairs]
    return [Part(each, within(each, least, strict=strict)) for each in found]


def _equivalent(predicate: Equivalent, evidence: Evidence) -> list[Part]:
    measure, most = GAINS[predicate.numbers], predicate.within
    found = [measure(evidence, pair, "points") for pair in predicate.pairs]
    return [Part(each, within(each, -most, most)) for each in found]


def _ratio(predicate: Ratio, evidence: Evidence) -> list[Part]:
    found = [ratio(evidence, pair, predicate.column) for pair in predicate.pairs]
    bounds = (predicate.at_least, predicate.at_most)
    return [Part(each, within(each, *bounds)) for each in found]


def _attention(predicate: Attention, evidence: Evidence) -> list[Part]:
    parts = []
    after = (predicate.trained_at_least, predicate.trained_at_most)
    change = (predicate.change_more_than, predicate.change_less_than)
    for variant in predicate.variants:
        trained, changed = attention_findings(
            evidence, variant, predicate.metric, predicate.layers
        )
        if after != (None, None):
            parts.append(Part(trained, within(trained, *after)))
        changed = replace(changed, subject=f"change of {variant}")
        parts.append(Part(changed, within(changed, *change, strict=True)))
    return parts


def _matches(predicate: MatchesPublished, evidence: Evidence) -> list[Part]:
    return [Part(*published_finding(evidence, name)) for name in predicate.variants]


_PARTS: dict[type[Predicate], Callable[..., list[Part]]] = {
    Gain: _gain,
    Equivalent: _equivalent,
    Ratio: _ratio,
    Attention: _attention,
    MatchesPublished: _matches,
}
