"""What a study would cost, told before it starts."""

from collections import Counter
from dataclasses import dataclass

from reattn.cards import Card, visible_cards
from reattn.cli.rates import card_rate, processor_rate
from reattn.config.runs import Run, runs_of
from reattn.config.studies import TrainingSettings
from reattn.costs.parameters import parameters_by_formula
from reattn.costs.runs import (
    CLASSES,
    epoch_images,
    micro_batch,
    operations,
    step_memory,
)
from reattn.report.numbers import duration
from reattn.training.limits import card_bytes

# Share of a plain matrix product's rate that training steps reach, measured over
# the report's variants on one CPU thread; they lie between 0.1 and 0.6.
EFFICIENCY = 0.3
GIBIBYTE = 2**30


@dataclass(frozen=True)
class Cost:
    """The estimate for the runs of one variant.

    Attributes:
        variant_id: The variant.
        runs: Runs of it, one a seed.
        epochs: Epochs a run.
        passes: Images that a run trains on, counted as often as they are seen.
        micro_batch: Images in memory at once, of the batch.
        batch: Images a step.
        memory: Bytes that a step needs.
        operations: Floating-point operations of all its runs.
        disk: Bytes that its runs leave on disk.
    """

    variant_id: str
    runs: int
    epochs: int
    passes: int
    micro_batch: int
    batch: int
    memory: int
    operations: int
    disk: int


def plan_of(study: str) -> str:
    """The plan of a study as text: what runs, for how long, and what it needs.

    Raises:
        ConfigError: the study or a variant has faults.
        DeviceError: which cards are visible cannot be known.
    """
    runs = runs_of(study)
    settings = runs[0].study
    on_card = settings.training.device == "gpu"
    cards = visible_cards() if on_card else []
    by_variant: dict[str, list[Run]] = {}
    for run in runs:
        by_variant.setdefault(run.variant_id, []).append(run)
    costs = [_cost(group, card_bytes(cards)) for group in by_variant.values()]
    lines = [
        f"Plan of study {study}: {settings.title}",
        *([f"  reduced: {settings.reduced}"] if settings.reduced else []),
        f"  {len(runs)} runs of {len(costs)} variants, {_passes(costs)}, "
        f"on {settings.training.device}, {settings.training.precision}",
        *([_cards(cards)] if on_card else []),
        *_table(costs),
        f"  disk: {sum(cost.disk for cost in costs) / GIBIBYTE:.1f} GiB of weights and "
        "checkpoints, besides the images",
        _time(settings.training, costs),
    ]
    return "\n".join(lines)


def _cost(runs: list[Run], available: int | None) -> Cost:
    run = runs[0]
    size, budget = run.study.data.image_size, run.budget
    parameters = parameters_by_formula(run.variant.model, size, CLASSES)
    return Cost(
        variant_id=run.variant_id,
        runs=len(runs),
        epochs=budget.last_epoch,
        passes=epoch_images(run) * budget.last_epoch,
        micro_batch=micro_batch(run, available),
        batch=budget.batch,
        memory=step_memory(run, available),
        operations=len(runs) * operations(run),
        disk=len(runs) * 3 * 4 * parameters,  # weights; weights and momentum again
    )


def _cards(cards: list[Card]) -> str:
    """What runs on how many cards, and whose memory the batches are split for."""
    if not cards:
        return "  cards: none visible here; every batch is assumed to fit whole"
    models = Counter(card.model for card in cards)
    listed = "; ".join(f"{count} x {model}" for model, count in models.items())
    most = "1 run" if len(cards) == 1 else f"{len(cards)} runs"
    line = f"  cards: {listed}; room for {most} at once"
    if card_bytes(cards) is None:
        return f"{line}; memory not known, so every batch is assumed to fit whole"
    return f"{line}; batches are split for the smallest"


def _passes(costs: list[Cost]) -> str:
    total = sum(cost.runs * cost.passes for cost in costs)
    return f"{total:,} image passes" if total else "as many passes as there are images"


def _table(costs: list[Cost]) -> list[str]:
    rows = [("variant", "runs", "epochs", "batch", "memory a run", "operations")]
    for cost in costs:
        split = "" if cost.micro_batch == cost.batch else f" in {cost.micro_batch}s"
        rows.append(
            (
                cost.variant_id,
                str(cost.runs),
                str(cost.epochs),
                f"{cost.batch}{split}",
                f"{cost.memory / GIBIBYTE:.2f} GiB",
                f"{cost.operations:.1e}",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _time(training: TrainingSettings, costs: list[Cost]) -> str:
    operations = sum(cost.operations for cost in costs)
    on_card = training.device == "gpu"
    rate = card_rate(training.precision) if on_card else processor_rate()
    if rate is None:
        return (
            "  time: not estimated, since there is no GPU here to time; "
            f"{operations:.1e} operations"
        )
    if not operations:
        return "  time: known once the images are prepared"
    return (
        f"  time: about {duration(operations / (rate * EFFICIENCY))} of one "
        f"{'card' if on_card else 'core'}'s work for training, at {EFFICIENCY:.0%} of "
        f"the {rate / 1e9:.0f} GFLOP/s that a matrix product reaches on it now; divide "
        "by the runs that go on at once"
    )
