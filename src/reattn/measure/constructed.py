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
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

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
            for seed in seeds:
                row, maps = train_form(scores, seed, steps)
                rows.append(row)
                attention += maps
            progress(f"{LABELS[scores]}: accuracy {row['accuracy']:.3f}")
    write_rows(folder / "constructed-attention.csv", attention, ATTENTION_COLUMNS)
    write_rows(folder / "constructed.csv", rows, COLUMNS)


def train_form(scores: str, seed: int, steps: int) -> tuple[dict[str, Any], Rows]:
    """Train one form with one seed.

    Returns:
        Its row of constructed.csv, and its rows of constructed-attention.csv.
    """
    with own_randomness(derived_seed(seed, "constructed weights")):
        model = ConstructedAttention(scores)
    sets = draw_sets(TEST_SETS, generator_for(seed, "constructed test"))
    weights = {"initial": _attend(model, sets)}
    _train(model, generator_for(seed, "constructed training"), steps)
    weights["trained"] = _attend(model, sets)
    symmetric = is_symmetric(model, generator_for(seed, "constructed symmetry"))
    row = {
        **{"scores": scores, "label": LABELS[scores], "seed": seed, "steps": steps},
        "symmetric": "yes" if symmetric else "no",
        "parameters": sum(weight.numel() for weight in model.parameters()),
        **bound_cells(scores),
        **measured_cells(weights, sets),
    }
    return row, attention_rows(scores, seed, weights)


def _train(model: ConstructedAttention, generator: torch.Generator, steps: int) -> None:
    """Raise the attention that is paid to the right tokens.

    It is the share of right answers if these are drawn by attention. The likelihood
    would rather have all answers half right than two of three.
    """
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    for _ in range(steps):
        loss = -right_mass(model(draw_sets(BATCH, generator))).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


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
