"""How many images of a batch are in memory at once."""

import torch

from reattn.cards import eligible_cards
from reattn.config.runs import Run
from reattn.costs.memory import CPU_BYTES, largest_micro_batch
from reattn.training.limits import card_bytes, share_of


def micro_batch_for(
    run: Run, image_size: tuple[int, int], classes: int, device: torch.device
) -> int:
    """The study's micro-batch, or the largest that is estimated to fit.

    Args:
        run: The run; its batch is split.
        image_size: Height and width of its images, in pixels.
        classes: Classes of its data.
        device: The device that trains.
    """
    training, batch = run.study.training, run.budget.batch
    if training.micro_batch != "auto":
        return min(training.micro_batch, batch)
    return largest_micro_batch(
        run.variant.model,
        max(image_size),
        classes,
        batch,
        _available_bytes(device),
        training.precision,
    )


def _available_bytes(device: torch.device) -> int:
    if device.type == "cpu":
        return CPU_BYTES
    known = card_bytes(eligible_cards())
    if known is not None:
        return known
    return share_of(torch.cuda.get_device_properties(device).total_memory)
