"""Reading attention changes nothing and costs nothing when nobody reads."""

import pytest
import torch

from reattn.errors import ReattnError
from reattn.models.build import build_model
from reattn.models.recording import attention_probabilities, record_attention

NAMES = [
    "learned2d-9h-content",
    "learned2d-9h-nocontent",
    "learned2d-16h-content",
    "quadratic-9h-isotropic",
    "quadratic-9h-anisotropic",
    "vit",
    "ha-learned2d-9h-content",
    "ha-vit",
]
SMALL = {"width": 8, "feed_forward": 10, "heads": 3, "layers": 2}


def small(name):
    torch.manual_seed(0)
    stem = {"stem_width": 4} if "vit" in name else {}
    return build_model(name, image_size=(8, 8), num_classes=5, **SMALL, **stem)


def image_batch(batch=2):
    return torch.randn(batch, 3, 8, 8)


def generator():
    return torch.Generator().manual_seed(3)


@pytest.mark.parametrize("name", [name for name in NAMES if "vit" not in name])
def test_probabilities_have_one_tensor_a_layer_and_sum_to_one(name):
    """(batch, heads, h, w, h, w) for every layer or pass."""
    layers = attention_probabilities(small(name), image_batch())
    assert [layer.shape for layer in layers] == 2 * [(2, 3, 4, 4, 4, 4)]
    for layer in layers:
        torch.testing.assert_close(layer.sum((-1, -2)), torch.ones(2, 3, 4, 4))
        assert not layer.requires_grad


@pytest.mark.parametrize("name", ["vit", "ha-vit"])
def test_rows_and_token_sum_to_one(name):
    """The image-to-image part is not renormalised; the token has the rest."""
    layers = attention_probabilities(small(name), image_batch(), class_token=True)
    assert len(layers) == 2
    for layer in layers:
        of_images = layer.probabilities.sum((-1, -2)) + layer.token.to_token
        of_token = layer.token.from_token.sum((-1, -2)) + layer.token.on_itself
        torch.testing.assert_close(of_images, torch.ones(2, 3, 4, 4))
        torch.testing.assert_close(of_token, torch.ones(2, 3))
        assert (layer.token.to_token > 0).all()


def test_class_token_of_a_model_without_one():
    """A sentence instead of an empty list."""
    with pytest.raises(ReattnError, match="class token"):
        attention_probabilities(
            small("quadratic-9h-isotropic"), image_batch(), class_token=True
        )


def test_model_without_attention_says_so():
    """ResNet18 has nothing to record."""
    with pytest.raises(ReattnError, match="no attention"):
        attention_probabilities(torch.nn.Linear(2, 2), torch.zeros(1, 2))


@pytest.mark.parametrize("name", NAMES)
def test_reading_leaves_no_trace(name):
    """No hook, no change of form, mode, buffers or outputs; then nothing is kept."""
    model, images = small(name).train(), image_batch()
    model.classifier.eval()
    modes = [module.training for module in model.modules()]
    state = {key: value.clone() for key, value in model.state_dict().items()}
    attributes = [dict(vars(module)) for module in model.modules()]
    attention_probabilities(model, images)
    for module, before in zip(model.modules(), attributes, strict=True):
        assert not module._forward_hooks
        assert getattr(module, "recorder", None) is None
        assert getattr(module, "form", "shipped") == "shipped"
        assert set(vars(module)) - set(before) <= {"recorder"}
    assert [module.training for module in model.modules()] == modes
    for key, value in model.state_dict().items():
        assert torch.equal(value, state[key]), key


def test_recording_ends_with_its_context():
    """Calls outside the context are not recorded, even after an error."""
    model, images = small("learned2d-9h-content"), image_batch()
    with record_attention(model) as recording:
        model(images)
        with pytest.raises(RuntimeError):
            model(images[:, :1])
        with pytest.raises(ReattnError), record_attention(model):
            raise ReattnError("stop")
        model(images)
    model(images)
    assert len(recording) == 4


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_handed_over_when_nobody_records(name, monkeypatch):
    """The shipped form never makes probabilities for a reader who is not there."""
    model = small(name)
    for module in model.modules():
        if hasattr(module, "recorder"):
            monkeypatch.setattr(module, "_plain", None)
    assert model(image_batch()).shape == (2, 5)


def test_recorded_probabilities_are_those_before_dropout():
    """In training mode too a row sums to one."""
    model = small("learned2d-9h-content").train()
    with record_attention(model) as recording:
        model(image_batch())
    torch.testing.assert_close(recording[0].sum((-1, -2)), torch.ones(2, 3, 4, 4))


def test_probabilities_do_not_depend_on_the_mode():
    """Dropout in earlier layers does not blur the maps of later ones."""
    model, images = small("learned2d-9h-content"), image_batch()
    of_training = attention_probabilities(model.train(), images)
    of_evaluation = attention_probabilities(model.eval(), images)
    for one, other in zip(of_training, of_evaluation, strict=True):
        torch.testing.assert_close(one, other)
