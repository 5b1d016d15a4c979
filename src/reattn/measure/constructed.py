"""What symmetric scores cannot do, shown by training every form on one small task.

Let s(x, y) = s(y, x), and let a set's three asked tokens A, B, C all attend most to
the right one: s(A,B) > s(A,C) = s(C,A) > s(C,B) = s(B,C) > s(B,A) = s(A,B), which is
a contradiction. No set has three right answers, whatever the weights: at most 2/3 are
right. Two are within reach of one map for queries and keys, for example of
A = (1, 0), B = (1.5, 1.5), C = (1, 4).

Of features of equal length more is true: x.y <= |x| |y| = x.x, with equality only for
y = x. A token matches itself best, answers what it carries itself, and is wrong.

The value path is the same for all forms and learns nothing. With a learned output map
the bound would not hold: it may subtract what is attended to.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call, stack_module_state, vmap

from reattn.files import write_rows
from reattn.measure.constructed_forms import ATTENTION_COLUMNS, COLUMNS, LABELS
from reattn.measure.constructed_rows import (
    Rows,
    attention_rows,
    bound_cells,
    measured_cells,
)
from reattn.measure.constructed_scores import ConstructedAttention, is_symmetric
from reattn.measure.constructed_task import draw_sets, right_mass
from reattn.training.randomness import derived_seed, generator_for, own_randomness

SEEDS = range(5)
STEPS, BATCH, LEARNING_RATE = 300, 64, 0.01
TEST_SETS = 1000


def measure_constructed(
    folder: Path,
    *,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    progress: Callable[[str], None] = print,
) -> None:
    """Train every form with every seed; write constructed.csv and who attends to whom.

    Args:
        folder: Of constructed.csv and constructed-attention.csv.
        seeds: One training a form and seed.
        steps: Of Adam, with new sets each.
        progress: Is called with a line for every form.
    """
    rows: Rows = []
    attention: Rows = []
    with _one_thread():
        for scores in LABELS:
            for row, maps in train_form(scores, seeds, steps):
                rows.append(row)
                attention += maps
            progress(f"{LABELS[scores]}: accuracy {row['accuracy']:.3f}")
    write_rows(folder / "constructed-attention.csv", attention, ATTENTION_COLUMNS)
    write_rows(folder / "constructed.csv", rows, COLUMNS)


def train_form(
    scores: str, seeds: Sequence[int], steps: int
) -> list[tuple[dict[str, Any], Rows]]:
    """Train one form, side by side with each of several seeds.

    Returns:
        For each seed its row of constructed.csv, and its rows of
        constructed-attention.csv.
    """
    models = [_drawn(scores, seed) for seed in seeds]
    sets = [draw_sets(TEST_SETS, generator_for(s, "constructed test")) for s in seeds]
    initial = [_attend(*each) for each in zip(models, sets, strict=True)]
    generators = [generator_for(seed, "constructed training") for seed in seeds]
    _train(models, generators, steps)
    trained = [_attend(*each) for each in zip(models, sets, strict=True)]
    return [
        _rows(model, seed, steps, {"initial": before, "trained": after}, asked)
        for model, seed, before, after, asked in zip(
            models, seeds, initial, trained, sets, strict=True
        )
    ]


def _drawn(scores: str, seed: int) -> ConstructedAttention:
    with own_randomness(derived_seed(seed, "constructed weights")):
        return ConstructedAttention(scores)


def _rows(
    model: ConstructedAttention,
    seed: int,
    steps: int,
    weights: dict[str, Tensor],
    sets: Tensor,
) -> tuple[dict[str, Any], Rows]:
    scores = model.form
    symmetric = is_symmetric(model, generator_for(seed, "constructed symmetry"))
    row = {
        **{"scores": scores, "label": LABELS[scores], "seed": seed, "steps": steps},
        "symmetric": "yes" if symmetric else "no",
        "parameters": sum(weight.numel() for weight in model.parameters()),
        **bound_cells(scores),
        **measured_cells(weights, sets),
    }
    return row, attention_rows(scores, seed, weights)


def _train(
    models: Sequence[ConstructedAttention],
    generators: Sequence[torch.Generator],
    steps: int,
) -> None:
    """Raise the attention that is paid to the right tokens.

    It is the share of right answers if these are drawn by attention. The likelihood
    would rather have all answers half right than two of three.

    The models are stacked: steps this small cost as much for all as for one. Their
    losses are summed, so that none changes another's gradient.
    """
    stacked, _ = stack_module_state(list(models))
    attend = vmap(partial(functional_call, deepcopy(models[0])))
    optimizer = torch.optim.Adam(stacked.values(), LEARNING_RATE)
    for _ in range(steps):
        sets = torch.stack([draw_sets(BATCH, generator) for generator in generators])
        right = right_mass(attend(stacked, (sets,)).flatten(0, 1))
        loss = -right.unflatten(0, (len(models), BATCH)).mean(dim=(1, 2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for place, model in enumerate(models):
        model.load_state_dict({n: w[place] for n, w in stacked.items()}, strict=False)


@torch.no_grad()
def _attend(model: ConstructedAttention, sets: Tensor) -> Tensor:
    return model(sets)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums over one thread have one order, and so the same bits every time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
