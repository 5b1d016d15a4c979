"""From a claim and a study to a verdict, with all that it rests on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reattn.claims.accuracy import measured_gain, published_gain
from reattn.claims.attention import attention_findings
from reattn.claims.evidence import Evidence
from reattn.claims.published import AT_THIS_SCALE, published_finding
from reattn.claims.structure import ratio
from reattn.claims.verdicts import (
    BY_CONSTRUCTION,
    NOT_TESTED,
    Finding,
    all_of,
    within,
)
from reattn.claims.wording import asked_attention, asked_gain, asked_ratio
from reattn.config.claims import (
    Attention,
    ByConstruction,
    Claim,
    Equivalent,
    Gain,
    MatchesPublished,
    Ratio,
)

Judged = tuple[Finding, str]


@dataclass(frozen=True)
class Judgement:
    """A verdict and its parts.

    Attributes:
        verdict: One of `reattn.claims.verdicts`.
        threshold: What the claim asks for, in words.
        parts: Each number that was judged, with its own verdict.
        reason: Why there is no verdict, or where a reader should look.
    """

    verdict: str
    threshold: str
    parts: Sequence[Judged]
    reason: str = ""


def judge(claim: Claim, evidence: Evidence) -> Judgement:
    """The verdict on a claim by what a study measured.

    What was measured is told even where the study may not judge the claim.
    """
    predicate = claim.predicate
    if isinstance(predicate, ByConstruction):
        return Judgement(BY_CONSTRUCTION, "nothing", [], predicate.reason)
    threshold, parts = _JUDGES[type(predicate)](predicate, evidence)
    verdict = all_of([own for _, own in parts])
    reason = "; ".join(dict.fromkeys(f.reason for f, _ in parts if f.reason))
    published = getattr(predicate, "numbers", "measured") == "published"
    if not published and (lacking := _lacking(claim, evidence, parts)):
        verdict, reason = NOT_TESTED, "; ".join(filter(None, (lacking, reason)))
    return Judgement(verdict, threshold, parts, reason)


def _lacking(claim: Claim, evidence: Evidence, parts: Sequence[Judged]) -> str:
    """What this study lacks to judge the claim; empty where nothing."""
    if claim.evidence.scale == "full" and evidence.study.reduced:
        return AT_THIS_SCALE
    counts = [found.count for found, _ in parts if found.value is not None]
    fewest = min(counts, default=0)
    if isinstance(claim.predicate, Ratio) or fewest >= claim.evidence.seeds:
        return ""
    return f"{claim.evidence.seeds} runs are asked for, {fewest} are there"


def _gain(predicate: Gain, evidence: Evidence) -> tuple[str, list[Judged]]:
    measure = published_gain if predicate.numbers == "published" else measured_gain
    found = [measure(evidence, pair, predicate.unit) for pair in predicate.pairs]
    judged = [(each, within(each, at_least=predicate.at_least)) for each in found]
    return asked_gain(predicate), judged


def _equivalent(predicate: Equivalent, evidence: Evidence) -> tuple[str, list[Judged]]:
    found = measured_gain(evidence, predicate.pair, "points")
    most = predicate.within
    return f"within {most:g} points", [(found, within(found, -most, most))]


def _ratio(predicate: Ratio, evidence: Evidence) -> tuple[str, list[Judged]]:
    found = [ratio(evidence, pair, predicate.column) for pair in predicate.pairs]
    bounds = (predicate.at_least, predicate.at_most)
    return asked_ratio(predicate), [(each, within(each, *bounds)) for each in found]


def _attention(predicate: Attention, evidence: Evidence) -> tuple[str, list[Judged]]:
    judged = []
    for variant in predicate.variants:
        trained, change = attention_findings(
            evidence, variant, predicate.metric, predicate.layers
        )
        bounds = (predicate.trained_at_least, predicate.trained_at_most)
        if bounds != (None, None):
            judged.append((trained, within(trained, *bounds)))
        bounds = (predicate.change_at_least, predicate.change_at_most)
        judged.append((_as_change(change), within(change, *bounds)))
    return asked_attention(predicate), judged


def _as_change(found: Finding) -> Finding:
    return Finding(**{**vars(found), "subject": f"change of {found.subject}"})


def _matches(
    predicate: MatchesPublished, evidence: Evidence
) -> tuple[str, list[Judged]]:
    judged = [published_finding(evidence, name) for name in predicate.variants]
    return "the published number in the interval for one more run", judged


_JUDGES: dict[type, Callable[..., tuple[str, list[Judged]]]] = {
    Gain: _gain,
    Equivalent: _equivalent,
    Ratio: _ratio,
    Attention: _attention,
    MatchesPublished: _matches,
}
