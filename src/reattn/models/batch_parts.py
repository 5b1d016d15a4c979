"""Predicting a large batch a few images at a time.

What is larger than a cache is read from afar, and the memory of large maps is given
back to the system and fetched again page by page. So on a CPU an image of a large
batch takes up to twice as long as one of a small batch.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from reattn.models.recording import recorder_of

# Numbers in the largest map of a part: eight megabytes in float32.
NUMBERS_IN_A_PART = 2**21


def in_parts(
    model: nn.Module, compute: Callable[[Tensor], Tensor], images: Tensor, width: int
) -> Tensor:
    """compute(images), in parts where one image does not depend on another.

    Args:
        model: What computes.
        compute: From images to one result for each.
        images: (batch, channels, height, width).
        width: Features of a pixel in the largest map.
    """
    pixels = images.shape[-2] * images.shape[-1]
    part = max(1, NUMBERS_IN_A_PART // (width * pixels))
    if len(images) <= part or images.is_cuda or not _may_be_parted(model):
        return compute(images)
    return torch.cat([compute(few) for few in images.split(part)])


def _may_be_parted(model: nn.Module) -> bool:
    """Whether nothing looks at the whole batch: no statistics, no recording."""
    return not torch.is_grad_enabled() and not any(
        module.training or _recorded(module) for module in model.modules()
    )


def _recorded(module: nn.Module) -> bool:
    return hasattr(module, "recorder") and recorder_of(module) is not None
