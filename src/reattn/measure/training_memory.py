"""The most memory that one step of training holds, without a training."""

import multiprocessing
from collections.abc import Mapping
from dataclasses import dataclass

from reattn.config.models import ModelSettings
from reattn.config.studies import TrainingSettings
from reattn.config.variants import Variant
from reattn.costs.memory import CPU_BYTES, largest_micro_batch
from reattn.errors import ReattnError
from reattn.measure.conditions import Conditions


@dataclass(frozen=True)
class StepMemory:
    """What one step took.

    Attributes:
        megabytes: The most that it held beyond the model and what torch holds.
        batch: Images of the step.
    """

    megabytes: float
    batch: int


def depths(variants: Mapping[str, Variant]) -> list[str]:
    """Variants that differ from another one in their number of layers alone."""
    seen: dict[str, list[str]] = {}
    for name, variant in variants.items():
        if hasattr(variant.model, "layers"):
            rest = variant.model.model_dump(exclude={"layers"})
            seen.setdefault(repr(rest), []).append(name)
    return [name for name in variants for alike in seen.values() if _among(name, alike)]


def _among(name: str, alike: list[str]) -> bool:
    return name in alike and len(alike) > 1


def step_batch(
    settings: ModelSettings, batch: int, training: TrainingSettings, image_size: int
) -> int:
    """Images that a training on a CPU would hold at once: its micro-batch.

    On a GPU the whole batch, as far as the card takes it.
    """
    if training.micro_batch != "auto":
        return min(training.micro_batch, batch)
    if training.device == "gpu":
        return batch
    return largest_micro_batch(
        settings, image_size, 10, batch, CPU_BYTES, training.precision
    )


def measure_step(variant: Variant, batch: int, conditions: Conditions) -> StepMemory:
    """Forward, backward and update of one batch, in a process of its own.

    What was measured before it would otherwise have left memory that the step takes
    without asking for more.

    Args:
        variant: What to train.
        batch: Images of the step.
        conditions: Image size, classes, device and threads.

    Raises:
        ReattnError: the step failed, for instance for lack of memory.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(
        target=_measured, args=(variant, batch, conditions, sender)
    )
    process.start()
    sender.close()
    try:
        found = receiver.recv()
    except EOFError:
        found = "the process that trained one step was ended"
    process.join()
    if isinstance(found, str):
        raise ReattnError(found)
    return StepMemory(found, batch)


def _measured(variant: Variant, batch: int, conditions: Conditions, sender) -> None:
    import torch

    from reattn.measure.memory import peak_memory

    try:
        torch.set_num_threads(conditions.threads)
        step = _step(variant, batch, conditions)
        sender.send(peak_memory(step, conditions.device))
    except (RuntimeError, MemoryError) as fault:
        sender.send(" ".join(str(fault).split()))


def _step(variant: Variant, batch: int, conditions: Conditions):
    import torch
    from torch.nn import functional as F

    from reattn.models.build import build_model
    from reattn.training.state import optimizer_of

    size, classes = conditions.image_size, conditions.num_classes
    model = build_model(variant, image_size=size, num_classes=classes)
    model.to(conditions.device).train()
    optimizer = optimizer_of(model, variant.recipe)
    images = torch.zeros(batch, 3, size, size, device=conditions.device)
    labels = torch.zeros(batch, dtype=torch.long, device=conditions.device)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step
