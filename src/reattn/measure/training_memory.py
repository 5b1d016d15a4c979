"""The most memory that a step of training holds, without a training."""

import multiprocessing
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

import torch

from reattn.allocation import give_freed_memory_back
from reattn.config.depths import but_for_layers, layers_of
from reattn.config.studies import TrainingSettings
from reattn.config.variants import Variant
from reattn.errors import ReattnError
from reattn.measure.conditions import Conditions, conditions_hold
from reattn.measure.memory import peak_memory
from reattn.models.build import build_model
from reattn.processes import PARENT, end_with_parent
from reattn.training.devices import autocast_for
from reattn.training.state import optimizer_of
from reattn.training.steps import Step, is_out_of_memory

STEPS = 2  # the first one makes the momentum, which the second one holds throughout

SMALLEST_BLOCK = 2**18  # bytes; smaller ones may stay with the process when freed


@dataclass(frozen=True)
class StepMemory:
    """What one step took.

    Attributes:
        megabytes: The most that it held: weights, gradients, momentum, activations.
        batch: Images in memory at once.
    """

    megabytes: float
    batch: int


def depths(variants: Mapping[str, Variant]) -> list[str]:
    """Variants that differ from another one in their number of layers alone."""
    alike: dict[str, list[str]] = {}
    for name, variant in variants.items():
        if layers_of(variant) is not None:
            alike.setdefault(repr(but_for_layers(variant)), []).append(name)
    several = {name for names in alike.values() if len(names) > 1 for name in names}
    return [name for name in variants if name in several]


def measure_step(
    variant: Variant, micro_batch: int, conditions: Conditions
) -> StepMemory:
    """Forward, backward and update, in a process of its own.

    What was measured before it would otherwise have left memory that the step takes
    without asking for more.

    Args:
        variant: What to train.
        micro_batch: Images in memory at once; halved, as in a training, where they
            do not fit.
        conditions: Image size, classes, device, threads and precision.

    Raises:
        ReattnError: the step failed, for instance for lack of memory.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    arguments = (variant, micro_batch, conditions, sender)
    process = context.Process(target=_measure_alone, args=arguments)
    os.environ[PARENT] = str(os.getpid())
    process.start()
    sender.close()
    try:
        found = receiver.recv()
    except EOFError:
        found = "the process that trained one step was ended, perhaps for its memory"
    process.join()
    if isinstance(found, str):
        raise ReattnError(found)
    return found


def _measure_alone(
    variant: Variant, micro_batch: int, conditions: Conditions, sender: Connection
) -> None:
    end_with_parent()
    give_freed_memory_back(SMALLEST_BLOCK)
    torch.use_deterministic_algorithms(True, warn_only=True)  # as trainings do
    # Mixed precision is entered around forward passes alone, by the step.
    mixed = conditions.precision == "bf16"
    outside = replace(conditions, precision="fp32") if mixed else conditions
    try:
        with conditions_hold(outside):
            sender.send(_measured(variant, micro_batch, conditions))
    except Exception as fault:  # the other process tells it
        told = "out of memory" if is_out_of_memory(fault) else str(fault)
        sender.send(f"a step of training failed: {' '.join(told.split())}")


def _measured(variant: Variant, micro_batch: int, conditions: Conditions) -> StepMemory:
    batches: list[int] = []
    work = _training(variant, micro_batch, conditions, batches.append)
    return StepMemory(peak_memory(work, conditions.device), batches[-1])


def _training(
    variant: Variant,
    micro_batch: int,
    conditions: Conditions,
    taken: Callable[[int], None],
) -> Callable[[], None]:
    """Makes a model, takes steps and tells `taken` how many images fitted at once."""
    size, classes = conditions.image_size, conditions.num_classes
    device = torch.device(conditions.device)
    training = TrainingSettings(device="cpu", precision=conditions.precision)

    def work() -> None:
        model = build_model(variant, image_size=size, num_classes=classes)
        step = Step(
            model=model.to(device).train(),
            optimizer=optimizer_of(model, variant.recipe),
            smoothing=variant.recipe.label_smoothing,
            micro_batch=micro_batch,
            autocast=autocast_for(training, device),
        )
        images = torch.zeros(micro_batch, 3, size, size, device=device)
        labels = torch.arange(micro_batch, device=device) % classes
        for _ in range(STEPS):
            step.take(images, labels)
        taken(step.micro_batch)

    return work
