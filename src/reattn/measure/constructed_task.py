"""A task of its own: attend to B where A is seen, to C where B, to A where C.

A set holds one token of each kind A, B, C and five of another kind, in no order. Each
token carries one of eight contents, none of them twice in a set. Where A is seen the
answer is what B carries; where B is, what C carries; where C is, what A carries.
"""

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from reattn.measure.constructed_forms import CONTENTS, KINDS, WANTED

OTHERS = CONTENTS - len(WANTED)
TOKENS = CONTENTS
ASKED = len(WANTED)  # the first tokens of a set; of the others nothing is asked
# The place of the token that each asked one is to attend to.
RIGHT = [KINDS.index(wanted) for wanted in WANTED.values()]
FEATURES = len(KINDS) + CONTENTS


def kinds_of_tokens() -> Tensor:
    """The kind of each token of a set: (tokens, kinds), one-hot."""
    others = len(KINDS) - 1
    return one_hot(torch.tensor([*range(ASKED), *[others] * OTHERS])).double()


def draw_sets(count: int, generator: torch.Generator) -> Tensor:
    """Random sets.

    Args:
        count: How many.
        generator: Decides who carries what.

    Returns:
        (count, tokens, kinds + contents): one-hot kind, then one-hot content.
    """
    carried = torch.rand(count, CONTENTS, generator=generator).argsort(dim=-1)
    kinds = kinds_of_tokens().expand(count, -1, -1)
    return torch.cat([kinds, one_hot(carried, CONTENTS).double()], dim=-1)


def carried_by(sets: Tensor) -> Tensor:
    """What every token carries: (count, tokens, contents), one-hot."""
    return sets[..., len(KINDS) :]


def right_mass(weights: Tensor) -> Tensor:
    """The attention that each asked token pays to the right one.

    Args:
        weights: (count, tokens, tokens): query, key.

    Returns:
        (count, asked).
    """
    return weights[:, range(ASKED), RIGHT]


def right_answers(weights: Tensor, sets: Tensor) -> Tensor:
    """Which answers are right: (count, asked).

    An answer is the content with most attention. Nothing is learned on the way from
    there, and no token adds what it carries itself.
    """
    carried = carried_by(sets)
    answers = (weights @ carried)[:, :ASKED].argmax(dim=-1)
    return answers == carried[:, RIGHT].argmax(dim=-1)


def best_matches_itself(weights: Tensor) -> Tensor:
    """Which asked tokens attend to themselves most: (count, asked)."""
    return weights[:, :ASKED].argmax(dim=-1) == torch.arange(ASKED)


def mass_by_kind(weights: Tensor) -> Tensor:
    """Mean attention of a token of one kind to all of another: (kinds, kinds)."""
    kinds = kinds_of_tokens()
    to_kinds = weights.mean(dim=0) @ kinds
    return (kinds / kinds.sum(dim=0)).T @ to_kinds
