"""The cells of the constructed task's two files."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from reattn.measure.constructed_forms import (
    CHANCE,
    KINDS,
    STATES,
    accuracy_bound,
)
from reattn.measure.constructed_task import (
    best_matches_itself,
    mass_by_kind,
    right_answers,
    right_mass,
)
from reattn.reasons import NOT_AVAILABLE, join_reasons

_UNBOUNDED = "scores that are not symmetric have none below one"
_DIGITS = 6

Rows = list[dict[str, Any]]


def bound_cells(scores: str) -> dict[str, Any]:
    """What guessing gives, what no weights can exceed, and why there is no bound."""
    bound = accuracy_bound(scores)
    return {
        "chance": CHANCE,
        "accuracy_bound": NOT_AVAILABLE if bound is None else round(bound, _DIGITS),
        "reason": join_reasons({"accuracy_bound": _UNBOUNDED} if bound is None else {}),
    }


def measured_cells(weights: Mapping[str, Tensor], sets: Tensor) -> dict[str, Any]:
    """Shares of answers, of best matches and of attention.

    Args:
        weights: Attention (count, tokens, tokens) in each state.
        sets: What it was paid in.
    """
    initial, trained = (weights[state] for state in STATES)
    return {
        "accuracy": _share(right_answers(trained, sets)),
        "self_largest_initial": _share(best_matches_itself(initial)),
        "self_largest_trained": _share(best_matches_itself(trained)),
        "mass_on_right": _share(right_mass(trained)),
        "sets": len(sets),
    }


def attention_rows(scores: str, seed: int, weights: Mapping[str, Tensor]) -> Rows:
    """Who attends to whom: a row a state, kind that looks and kind looked at."""
    maps = {state: mass_by_kind(weights[state]).tolist() for state in STATES}
    return [
        {
            **{"scores": scores, "seed": seed, "state": state},
            **{"query": query, "key": key},
            "mass": round(maps[state][row][column], _DIGITS),
        }
        for state in STATES
        for row, query in enumerate(KINDS)
        for column, key in enumerate(KINDS)
    ]


def _share(values: Tensor) -> float:
    return round(values.double().mean().item(), _DIGITS)
