"""Claims and findings in words."""

from reattn.claims.verdicts import EXACT, Finding
from reattn.config.claims import Attention, Gain, Ratio

MINUS = "\u2212"
PLACES = {"points": 2, "percent": 1}
WORDS = {
    "self_mass": "mass on the query itself",
    "entropy": "entropy in nats",
    "distance": "distance in pixels",
    "concentration": "mass at one fixed shift",
    "elsewhere": "share of largest weights elsewhere",
    "asymmetry": "antisymmetric share of the scores",
    "layer_difference": "difference between layers in bits",
}
LAYERS = {
    "first": "first layer",
    "last": "last layer",
    "last-two": "last two layers",
    "all": "all layers",
    "last-minus-first": "last layer minus first layer",
}


def asked_gain(predicate: Gain) -> str:
    """What a gain is held to."""
    unit = "points" if predicate.unit == "points" else "% of the first accuracy"
    return f"at least {predicate.at_least:g} {unit}, in each pair"


def asked_ratio(predicate: Ratio) -> str:
    """What a ratio is held to."""
    return f"{predicate.column}: {predicate.at_least:g} to {predicate.at_most:g} times"


def asked_attention(predicate: Attention) -> str:
    """What a measure of attention is held to."""
    parts = [
        f"{state} {words} {getattr(predicate, f'{key}_{bound}'):g}"
        for key, state in (("trained", "after training"), ("change", "change"))
        for bound, words in (("at_least", "at least"), ("at_most", "at most"))
        if getattr(predicate, f"{key}_{bound}") is not None
    ]
    subject = f"{WORDS[predicate.metric]}, {LAYERS[predicate.layers]}"
    return f"{subject}: {', '.join(parts)}".replace("-", MINUS)


def told(finding: Finding) -> str:
    """A finding as `subject: value (low to high)`."""
    if finding.value is None:
        return f"{finding.subject}: n/a"
    text = f"{finding.subject}: {_number(finding.value)}"
    if finding.kind == EXACT or finding.low is None:
        return text
    return f"{text} ({_number(finding.low)} to {_number(finding.high)})"


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", MINUS)
