"""The authors' learning rate, epoch by epoch."""

import math

from reattn.config.budget import Budget


def learning_rate(budget: Budget, peak: float, epoch: int) -> float:
    """The rate of an epoch: linear warm-up, then cosine.

    For epoch e < W it is `peak * e / W`. From W on a cosine of length T runs down
    from the last warm-up value, `peak * (W - 1) / W`:
    `... * (1 + cos(pi * (e - W + 1) / T)) / 2`. With the recipe's own T = E - W it
    reaches zero at e = E - 1 and begins to rise again in the two epochs that
    follow, then as a part of the peak itself (D16). After a warm-up of one epoch,
    which has no last value below the peak, the cosine starts from the peak.

    Args:
        budget: The run's schedule; W and T are taken from it.
        peak: The recipe's learning rate.
        epoch: From 1 to E + 1.

    Source: NishantPrabhu/Self-Attention-and-Convolutions@57f8244,
    main/main.py (adjust_learning_rate) and main/utils/train_utils.py.
    """
    warmup = budget.warmup_epochs
    if epoch < warmup:
        return peak * epoch / warmup
    falling = epoch - warmup + 1 <= budget.cosine_epochs
    start = peak * (warmup - 1) / warmup if falling and warmup > 1 else peak
    phase = math.pi * (epoch - warmup + 1) / budget.cosine_epochs
    return start * (1 + math.cos(phase)) / 2
