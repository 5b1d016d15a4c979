"""Operations and parameters of a model, counted on the model itself."""

import copy

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from reattn.costs.shapes import CHANNELS
from reattn.models.forms import set_form
from reattn.models.recording import evaluating


def count_flops(model: nn.Module, image_size: int) -> int:
    """Floating-point operations of the inference of one image.

    Two for each multiply-accumulate of a matrix product or a convolution, counted
    on the plain form: inside a fused attention the counter sees nothing on a CPU.
    Element-wise work (softmax, normalisation, activations, sums) is not counted.

    Args:
        model: The model, on any device; it is left as it was, in the plain form.
        image_size: Side of the image, in pixels.
    """
    device = next(model.parameters()).device
    plain = set_form(copy.deepcopy(model), "plain")
    image = torch.zeros(1, CHANNELS, image_size, image_size, device=device)
    with (
        evaluating(plain),
        torch.random.fork_rng(devices=_gpus(device)),
        FlopCounterMode(display=False) as counter,
    ):
        plain(image)
    return counter.get_total_flops()


def count_parameters(model: nn.Module) -> int:
    """The number of trainable parameters."""
    return sum(each.numel() for each in model.parameters() if each.requires_grad)


def count_unused_parameters(model: nn.Module, image_size: int) -> int:
    """Trainable parameters that no gradient reaches: they never change.

    Args:
        model: The model, on any device; it is left as it was.
        image_size: Side of the image, in pixels.
    """
    device = next(model.parameters()).device
    trained = copy.deepcopy(model).train().requires_grad_(True)
    trained.zero_grad(set_to_none=True)
    images = torch.zeros(2, CHANNELS, image_size, image_size, device=device)
    with torch.random.fork_rng(devices=_gpus(device)):
        trained(images).sum().backward()
    return sum(each.numel() for each in trained.parameters() if each.grad is None)


def _gpus(device: torch.device) -> list[torch.device]:
    return [device] if device.type == "cuda" else []
