"""The model of a run before its first step."""

import torch
from torch import nn

from reattn.config.runs import Run
from reattn.models.build import build_model
from reattn.training.randomness import derived_seed


def fresh_model(run: Run, image_size: tuple[int, int], num_classes: int) -> nn.Module:
    """A run's model with the weights that its seed draws, on the CPU.

    Args:
        run: The run.
        image_size: Height and width in pixels.
        num_classes: Classes to tell apart.
    """
    torch.manual_seed(derived_seed(run.seed, "weights"))
    return build_model(run.variant, image_size=image_size, num_classes=num_classes)
