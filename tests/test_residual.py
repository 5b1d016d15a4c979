"""The residual block is torchvision's, without the import of torchvision."""

import subprocess
import sys

import pytest
import torch
from torch import nn
from torchvision.models import resnet

from reattn.models.residual import BasicBlock

SHAPES = [(4, 4, 1), (3, 6, 2)]


def blocks(inputs: int, outputs: int, stride: int) -> tuple[nn.Module, nn.Module]:
    """Ours and torchvision's, each made with the same seed."""
    made = []
    for block in (BasicBlock, resnet.BasicBlock):
        torch.manual_seed(0)
        shortcut = None
        if stride > 1:
            projection = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            shortcut = nn.Sequential(projection, nn.BatchNorm2d(outputs))
        made.append(block(inputs, outputs, stride, shortcut))
    return tuple(made)


@pytest.mark.parametrize("shape", SHAPES)
def test_weights_have_torchvisions_names_and_beginnings(shape: tuple) -> None:
    """So checkpoints fit, and a seed gives the weights that it always gave."""
    ours, theirs = (block.state_dict() for block in blocks(*shape))
    assert list(ours) == list(theirs)
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_outputs_and_gradients_are_torchvisions(shape: tuple, training: bool) -> None:
    """To the bit, and so are the statistics of batch normalisation."""
    images = torch.randn(5, shape[0], 8, 6)
    found = []
    for block in blocks(*shape):
        block.train(training)
        features = images.clone().requires_grad_()
        output = block(features)
        output.square().sum().backward()
        gradients = [p.grad for p in block.parameters()]
        found.append([output, features.grad, *gradients, *block.buffers()])
    assert all(map(torch.equal, *found))


@pytest.mark.parametrize("variant", ["resnet18", "vit", "ha-vit"])
def test_a_model_is_made_without_torchvision(variant: str) -> None:
    """Its import would double the start of every process."""
    code = (
        "import sys, reattn; "
        f"reattn.build_model({variant!r}); "
        "sys.exit('torchvision' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
