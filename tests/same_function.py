"""A model in its two forms and in two precisions, and how far results lie apart.

The plain form in float64 is the reference. The shipped form in float32 may be four
times as far from it as the plain form in float32 is.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from unittest import mock

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reattn.config import load_resolved
from reattn.models import dropout
from reattn.models.build import build_model
from reattn.models.forms import Form, set_form
from reattn.models.recording import record_attention

VARIANTS = list(load_resolved("paper")[1])
SAN = [name for name in VARIANTS if "san" in name]
ENCODERS = [name for name in VARIANTS if name not in {"resnet18", *SAN}]
CONTENT = [name for name in VARIANTS if name.endswith("-content")]
CLASSES = 5
PREDICTIONS = 3

# What the shipped form may be worse by.
ALLOWED = 4
# Where the plain form happens to be exact, a result may still be rounded: a few units
# in the last place of its own norm, and one of the norm of all results. The latter is
# for gradients that are zero but for rounding, like that of a bias before a softmax.
OWN_ROUNDING = 4 * torch.finfo(torch.float32).eps
COMMON_ROUNDING = torch.finfo(torch.float32).eps

Results = dict[str, Tensor]


class Draw(NamedTuple):
    """What one forward pass is given."""

    images: Tensor
    arguments: dict[str, Tensor]
    direction: Tensor  # of the sum of outputs whose gradient is taken


def small(name: str, **overrides: object) -> dict[str, object]:
    """Settings of a variant that computes in milliseconds, every kind of part kept."""
    if name == "resnet18":
        settings: dict[str, object] = {"width": 8}
    elif name in SAN:
        settings = {"width": 32}
        settings |= {"layers": 2} if name.startswith("ha-") else {"stages": 2}
    else:
        settings = {"width": 24, "feed_forward": 20, "heads": 3, "layers": 2}
        settings |= {"stem_width": 8} if "vit" in name else {}
    return settings | overrides


def full_width(name: str) -> dict[str, object]:
    """Settings of a variant with few layers, each as the report's are."""
    if name == "resnet18":
        return {}
    if name in SAN and not name.startswith("ha-"):
        return {"stages": 3, "blocks": 1}
    return {"layers": 2 if name.startswith("ha-") else 1}


def on_grid(name: str, size: tuple[int, int], settings: dict) -> dict[str, object]:
    """The settings with which a variant takes images of a size, square or not."""
    if name in CONTENT and size[0] != size[1]:
        return {"content_alignment": "aligned"} | settings
    return settings


def build(
    name: str, size: tuple[int, int], seed: int = 0, **settings: object
) -> nn.Module:
    """A model in evaluation mode whose norms and biases are not those of the start.

    Norms that do nothing hide where they are forgotten.
    """
    torch.manual_seed(seed)
    settings = on_grid(name, size, settings)
    model = build_model(name, image_size=size, num_classes=CLASSES, **settings)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.2 * torch.randn_like(parameter))
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.running_mean.normal_(std=0.3)
                module.running_var.uniform_(0.5, 2.0)
    return model.eval()


def without_kinks(model: nn.Module) -> nn.Module:
    """Put a smooth function in the place of every ReLU of an encoder.

    Among a million arguments some are zero but for rounding; then a form whose
    rounding has the other sign has another gradient, of which nothing follows.
    """
    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, nn.ReLU):
                setattr(module, name, nn.GELU())
    return model


def peak(model: nn.Module) -> nn.Module:
    """Enlarge what scores are made of, so that few keys get most of the attention."""
    with torch.no_grad():
        for path, parameter in model.named_parameters():
            if path.endswith(("query.weight", "key.weight", "_keys.weight")):
                parameter.mul_(4)
            if path.endswith(("centres", "spreads")):
                parameter.add_(0.5 * torch.randn_like(parameter))
    return model


def train(model: nn.Module, size: tuple[int, int], steps: int = 20) -> nn.Module:
    """Fit a batch of random images in the plain form, until much of it is learned."""
    images, labels = torch.randn(10, 3, *size), torch.arange(10) % CLASSES
    set_form(model, "plain").train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0], losses
    optimizer.zero_grad()
    return set_form(model, "shipped").eval()


def draw(model: nn.Module, batch: int, seed: int = 1) -> Draw:
    """Images, and the class token of a ViT, which would be other noise every time."""
    generator = torch.Generator().manual_seed(seed)
    arguments = {}
    if hasattr(getattr(model, "patches", None), "token_features"):
        shape = (batch, model.patches.token_features, 1)
        arguments["class_token"] = torch.rand(shape, generator=generator)
    return Draw(
        torch.randn(batch, 3, *model.image_size, generator=generator),
        arguments,
        torch.randn(batch, CLASSES, generator=generator),
    )


def cast_to(dtype: torch.dtype, given: Draw) -> Draw:
    """A copy in another type."""
    return Draw(
        given.images.to(dtype, copy=True),
        {key: value.to(dtype) for key, value in given.arguments.items()},
        given.direction.to(dtype),
    )


def predict(model: nn.Module, given: Draw) -> Tensor:
    """Outputs without gradients, in whatever mode the model is."""
    with torch.no_grad():
        return model(given.images, **given.arguments)


def run(model: nn.Module, form: Form, dtype: torch.dtype, given: Draw) -> Results:
    """All that a model gives: outputs, gradients, and the statistics of its norms.

    In evaluation mode it predicts without gradients too, twice before and once after
    it is differentiated. The model itself stays as it is; it is a copy that runs.
    """
    model = set_form(copy.deepcopy(model), form).to(dtype)
    given = cast_to(dtype, given)
    given.images.requires_grad_()
    predictions = [] if model.training else [predict(model, given)]
    if predictions and form == "shipped":
        predictions.append(predict(model, given))
    outputs = model(given.images, **given.arguments)
    (outputs * given.direction).sum().backward()
    results = {"outputs": outputs.detach(), **_gradients(model, given.images)}
    if predictions and form == "shipped":
        predictions.append(predict(model, given))
    results |= _numbered("prediction", predictions, PREDICTIONS)
    for name, buffer in model.named_buffers():
        if buffer.is_floating_point():
            results[f"statistic {name}"] = buffer
    return results


def _numbered(kind: str, values: list[Tensor], wanted: int) -> Results:
    """Values by number; a plain form, which keeps nothing, has one for all numbers."""
    repeated = values * wanted if len(values) == 1 else values
    return {f"{kind} {number}": value for number, value in enumerate(repeated)}


def _gradients(model: nn.Module, images: Tensor) -> Results:
    gradients = {"images": images.grad}
    gradients |= {name: one.grad for name, one in model.named_parameters()}
    used = {name: one for name, one in gradients.items() if one is not None}
    return {
        **{f"gradient of {name}": one for name, one in used.items()},
        "whole gradient": torch.cat([one.flatten() for one in used.values()]),
    }


def three(model: nn.Module, given: Draw) -> tuple[Results, Results, Results]:
    """Shipped and plain in float32, plain in float64."""
    return (
        run(model, "shipped", torch.float32, given),
        run(model, "plain", torch.float32, given),
        run(model, "plain", torch.float64, given),
    )


def three_predictions(
    model: nn.Module, given: Draw
) -> tuple[Results, Results, Results]:
    """The same of outputs alone, without gradients, again and again."""

    def predictions(form: Form, dtype: torch.dtype) -> Results:
        other, cast = (
            set_form(copy.deepcopy(model), form).to(dtype),
            cast_to(dtype, given),
        )
        times = PREDICTIONS if form == "shipped" else 1
        made = [predict(other, cast) for _ in range(times)]
        return _numbered("prediction", made, PREDICTIONS)

    return (
        predictions("shipped", torch.float32),
        predictions("plain", torch.float32),
        predictions("plain", torch.float64),
    )


def three_recordings(model: nn.Module, given: Draw) -> tuple[Results, Results, Results]:
    """The same of what is recorded in one forward pass."""

    def recorded(form: Form, dtype: torch.dtype) -> Results:
        other = set_form(copy.deepcopy(model), form).to(dtype)
        with record_attention(other) as recording:
            predict(other, cast_to(dtype, given))
        return _numbered("probabilities", list(recording), len(recording))

    return (
        recorded("shipped", torch.float32),
        recorded("plain", torch.float32),
        recorded("plain", torch.float64),
    )


def assert_as_exact(runs: list[tuple[Results, Results, Results]]) -> None:
    """Fail where the shipped form is farther from the reference than it may be.

    Args:
        runs: For each draw the shipped and the plain results and the reference. The
            median over draws counts: an argument of a ReLU that is zero but for
            rounding changes gradients by more than rounding, in either form.
    """
    faults = []
    for key in runs[0][2]:
        of_draws = torch.tensor([_distances(key, *of_draw) for of_draw in runs])
        error, plain, norm, whole = of_draws.median(dim=0).values.tolist()
        allowed = ALLOWED * plain + OWN_ROUNDING * norm + COMMON_ROUNDING * whole
        if not error <= allowed:
            faults.append(f"{key} ({norm:.1e}): {error:.1e} off, allowed {allowed:.1e}")
    assert not faults, "\n".join(faults)


def _distances(
    key: str, shipped: Results, plain: Results, reference: Results
) -> list[float]:
    """Of a result: the distances of both forms, its norm, and that of all of a kind."""
    assert shipped.keys() == plain.keys() == reference.keys()
    exact, kind = reference[key], key.split()[0]
    of_a_kind = [v.norm() for other, v in reference.items() if other.startswith(kind)]
    return [
        (shipped[key].double() - exact).norm().item(),
        (plain[key].double() - exact).norm().item(),
        exact.norm().item(),
        torch.stack(of_a_kind).norm().item(),
    ]


@contextmanager
def fixed_masks(
    batch: int, heads: int, positions: int, fraction: float
) -> Iterator[None]:
    """The same dropout of the same probability in every form.

    A mask is drawn once for image, head, query and key and then laid out as the
    probabilities that it is for. Fused attention draws its own, so the equations
    stand in for it.
    """
    generator = torch.Generator().manual_seed(5)
    shape = (batch, heads, positions, positions)
    kept = torch.rand(shape, generator=generator) >= fraction
    masks = kept.double() / (1 - fraction)
    layouts = {
        shape: masks,
        shape[1:]: masks[0],
        (batch, positions * heads, positions): masks.transpose(1, 2).flatten(1, 2),
        (positions * heads, positions): masks[0].transpose(0, 1).flatten(0, 1),
    }

    def mask(like: Tensor, asked: float) -> Tensor:
        assert asked in (0, fraction)
        if asked == 0:
            return torch.ones_like(like)
        assert like.shape in layouts, f"state the layout {tuple(like.shape)} here"
        return layouts[like.shape].to(like)

    def attend(query, key, value, attn_mask=None, dropout_p=0.0, scale=None):
        scores = scale * query @ key.transpose(2, 3)
        probabilities = (scores if attn_mask is None else scores + attn_mask).softmax(3)
        return probabilities * mask(probabilities, dropout_p) @ value

    with (
        mock.patch.object(dropout, "scaled_mask", mask),
        mock.patch.object(F, "scaled_dot_product_attention", attend),
    ):
        yield
