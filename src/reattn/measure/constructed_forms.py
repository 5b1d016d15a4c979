"""The forms of scores that the constructed task compares, and what bounds them."""

# As in ProjectionsSettings.scores: those that are symmetric, then the others.
LABELS = {
    "dot": "Features, by dot product",
    "cosine": "Features, by cosine",
    "tied": "One map for query and key",
    "shared": "One map, for values too",
    "no-key": "Queries with features",
    "no-query": "Features with keys",
    "separate": "Queries with keys",
}
KINDS = ("A", "B", "C", "other")
WANTED = {"A": "B", "B": "C", "C": "A"}
CONTENTS = 8  # as many as tokens, so that no two tokens of a set carry the same
CHANCE = 1 / CONTENTS
STATES = ("initial", "trained")
COLUMNS = (
    *("scores", "label", "seed", "symmetric", "accuracy", "chance", "accuracy_bound"),
    *("self_largest_initial", "self_largest_trained", "mass_on_right"),
    *("steps", "sets", "parameters", "reason"),
)
ATTENTION_COLUMNS = ("scores", "seed", "state", "query", "key", "mass")

_ITSELF = ("dot", "cosine")
_SYMMETRIC = ("tied", "shared")


def accuracy_bound(scores: str) -> float | None:
    """The share of right answers that no weights can exceed; None: there is none.

    Proved in reattn.measure.constructed. Features of equal length match themselves
    best, so that their every answer is wrong; of other symmetric scores one answer
    in three is.
    """
    if scores in _ITSELF:
        return 0.0
    return 2 / 3 if scores in _SYMMETRIC else None
