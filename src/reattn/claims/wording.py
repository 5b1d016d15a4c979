"""Claims and findings in words."""

from collections.abc import Iterable
from functools import singledispatch

from reattn.claims.verdicts import POINTS, Finding
from reattn.config.predicates import (
    Attention,
    ByConstruction,
    Equivalent,
    Gain,
    MatchesPublished,
    Predicate,
    Ratio,
)

MINUS = "\u2212"
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
    "last-two-minus-first": "last two layers minus first layer",
}
COLUMNS = {
    "params": "parameters",
    "params_full_size": "parameters at full size",
    "flops": "operations",
    "training_memory_mb": "memory of a training step",
}
NOT_IN_STUDY = "not in this study"
NOT_MEASURED = "attention is not measured"
NAMING = (NOT_IN_STUDY, NOT_MEASURED)
BOUNDS = (
    ("trained_at_least", "after training at least"),
    ("trained_at_most", "after training at most"),
    ("change_more_than", "change by training above"),
    ("change_less_than", "change by training below"),
)


@singledispatch
def asked(predicate: Predicate) -> str:
    """What a claim is held to."""
    raise TypeError(f"no words for {type(predicate).__name__}")


@asked.register
def _(predicate: Gain) -> str:
    unit = "points" if predicate.unit == "points" else "% of the first accuracy"
    if predicate.more_than is not None:
        return f"more than {_signed(predicate.more_than)} {unit}, in each pair"
    return f"at least {_signed(predicate.at_least)} {unit}, in each pair"


@asked.register
def _(predicate: Equivalent) -> str:
    unit = "point" if predicate.within == 1 else "points"
    return f"within {predicate.within:g} {unit}, in each pair"


@asked.register
def _(predicate: Ratio) -> str:
    least, most = predicate.at_least, predicate.at_most
    words = COLUMNS[predicate.column]
    if least == most == 1:
        return f"equal {words}, in each pair"
    span = f"{least:g} to {most:g}" if least else f"at most {most:g}"
    return f"{words}: {span} times, in each pair"


@asked.register
def _(predicate: Attention) -> str:
    bounds = ", ".join(
        f"{words} {_signed(bound)}"
        for key, words in BOUNDS
        if (bound := getattr(predicate, key)) is not None
    )
    return f"{WORDS[predicate.metric]}, {LAYERS[predicate.layers]}: {bounds}"


@asked.register
def _(_: MatchesPublished) -> str:
    return "every published number in the interval for one more run"


@asked.register
def _(_: ByConstruction) -> str:
    return "nothing to measure"


def told(finding: Finding, predicate: Predicate) -> str:
    """A finding as `subject: value (low to high)`; differences have their sign."""
    if finding.value is None:
        return f"{finding.subject}: n/a"
    shown = _difference if isinstance(predicate, Gain | Equivalent) else _number
    text = f"{finding.subject}: {shown(finding.value)}"
    if finding.kind in POINTS or finding.low is None:
        return text
    return f"{text} ({shown(finding.low)} to {shown(finding.high)})"


def joined(reasons: Iterable[str]) -> str:
    """Reasons in one line, each once; those that only name variants, together."""
    found: dict[str, list[str]] = {}
    for reason in filter(None, reasons):
        lead, _, names = reason.partition(": ")
        if lead in NAMING and ";" not in names:
            found.setdefault(lead, []).extend(names.split(", "))
        else:
            found[reason] = []
    return "; ".join(
        f"{lead}: {', '.join(dict.fromkeys(names))}" if names else lead
        for lead, names in found.items()
    )


def _number(value: float) -> str:
    digits = 4 if abs(value) >= 10 else 3
    return _signed(float(f"{value:.{digits}g}"))


def _difference(value: float) -> str:
    return f"{value:+.2f}".replace("-", MINUS)


def _signed(value: float) -> str:
    return f"{value:g}".replace("-", MINUS)
