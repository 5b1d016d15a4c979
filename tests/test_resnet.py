"""ResNet18 for small images."""

import pytest
import torch
from torch import nn

import reattn
from reattn.errors import ReattnError


def test_parameters() -> None:
    """As many as the authors' own module has."""
    model = reattn.build_model("resnet18")
    assert sum(p.numel() for p in model.parameters()) == 11_173_962


@pytest.mark.parametrize("sides", [(32, 32), (16, 24)])
def test_outputs_are_log_probabilities(sides: tuple[int, int]) -> None:
    """They sum to one after exp, whatever the image's size and the classes."""
    model = reattn.build_model("resnet18", image_size=sides, num_classes=7, width=8)
    outputs = model(torch.randn(3, 3, *sides))
    assert outputs.shape == (3, 7)
    torch.testing.assert_close(outputs.exp().sum(1), torch.ones(3))


def test_no_pooling_before_the_stages() -> None:
    """A 32x32 image enters the first stage whole and leaves the last one at 4x4."""
    model = reattn.build_model("resnet18", width=8)
    sides = []
    for stage in model.features[3:]:
        stage.register_forward_hook(lambda *call: sides.append(call[2].shape[-1]))
    model(torch.randn(1, 3, 32, 32))
    assert sides == [32, 16, 8, 4]


def test_convolutions_start_as_he_et_al_did() -> None:
    """Normal, with the variance that keeps that of gradients: 2 / fan out."""
    torch.manual_seed(0)
    model = reattn.build_model("resnet18")
    for module in model.modules():
        if isinstance(module, nn.Conv2d) and module.weight.numel() > 10_000:
            fan_out = module.out_channels * module.weight[0, 0].numel()
            deviation = module.weight.std().item()
            assert deviation == pytest.approx((2 / fan_out) ** 0.5, rel=0.05)


def test_it_has_no_attention_to_read() -> None:
    """Asking for it is answered with one sentence."""
    model = reattn.build_model("resnet18", width=8)
    with pytest.raises(ReattnError) as error:
        reattn.attention_probabilities(model, torch.randn(1, 3, 32, 32))
    assert "no attention" in str(error.value)
    assert "\n" not in str(error.value)
