"""What makes SAN fast: other layouts, folded normalisations, hand-written gradients."""

import copy

import pytest
import torch
from torch import Tensor, nn

import reattn
from reattn.models import batch_norm, channel_major, shifts, weighted_sums
from reattn.models.forms import set_form
from reattn.models.neighbourhoods import aggregate, neighbourhoods
from reattn.models.pixel_major import from_images, linear, max_pool

VARIANTS = ["san-pairwise", "san-patchwise", "ha-san-pairwise", "ha-san-patchwise"]
SIDES = [(2, 3), (5, 9)]


def random(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def small(variant: str) -> nn.Module:
    """A narrow model in evaluation mode whose norms do something."""
    torch.manual_seed(0)
    model = reattn.build_model(variant, width=32)
    move(model, seed=1)
    return model.eval()


def move(model: nn.Module, seed: int) -> None:
    """Other weights and other statistics."""
    torch.manual_seed(seed)
    state = model.state_dict()
    for name, value in state.items():
        if value.is_floating_point():
            other = value * (1 + 0.3 * torch.rand_like(value))
            state[name] = other + 0.1 * torch.rand_like(value) * (value.dim() == 1)
    model.load_state_dict(state)


def assert_predicts_as_plain(model: nn.Module, images: Tensor) -> None:
    with torch.no_grad():
        shipped = model(images)
        plain = set_form(copy.deepcopy(model), "plain")(images)
    torch.testing.assert_close(shipped, plain, rtol=1e-3, atol=1e-4)


def to_maps(images: Tensor) -> Tensor:
    """(batch, channels, height, width) to (channels, height, width, batch)."""
    return images.permute(1, 2, 3, 0).contiguous()


# Layouts ----------------------------------------------------------------------


@pytest.mark.parametrize("sides", SIDES)
def test_neighbours_of_both_layouts(sides: tuple[int, int]) -> None:
    """The nine neighbours of every pixel, in the same order."""
    images = random(2, 3, *sides)
    expected = neighbourhoods(images).unflatten(3, sides).permute(1, 2, 3, 4, 0)
    assert torch.equal(shifts.around(to_maps(images)), expected)


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("few", [0, 10**6])
def test_sums_of_both_layouts(
    sides: tuple[int, int], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gathered at once or shifted nine times, with and without a shift of channels."""
    monkeypatch.setattr(weighted_sums, "FEW_NUMBERS", few)
    values, weights = random(2, 6, *sides), random(2, 3, 9, sides[0] * sides[1])
    expected = to_maps(aggregate(values, weights))
    given = to_maps(values), weights.unflatten(3, sides).permute(1, 2, 3, 4, 0)
    torch.testing.assert_close(weighted_sums.weighted_sum(*given), expected)
    shift = random(6)
    with torch.no_grad():
        shifted = weighted_sums.weighted_sum(*given, shift)
    torch.testing.assert_close(shifted, expected + shift.view(-1, 1, 1, 1))


@pytest.mark.parametrize("few", [0, 10**6])
def test_gradient_of_sums(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hand-written backward passes against finite differences."""
    monkeypatch.setattr(weighted_sums, "FEW_NUMBERS", few)
    values = random(4, 2, 3, 2).requires_grad_()
    weights = random(2, 9, 2, 3, 2).requires_grad_()
    assert torch.autograd.gradcheck(weighted_sums.weighted_sum, (values, weights))


def test_maps_pools_and_products_of_pixels() -> None:
    """As convolutions and poolings of images, of odd sides too."""
    images, convolution = random(2, 4, 5, 7), nn.Conv2d(4, 6, 1).double()
    pixels, expected = from_images(images), convolution(images)
    weight = convolution.weight.flatten(1)
    pooled = torch.nn.functional.max_pool2d(images, 2)
    assert torch.equal(max_pool(pixels), from_images(pooled))
    torch.testing.assert_close(linear(pixels, convolution), from_images(expected))
    first = channel_major.linear_of_pixels(pixels, weight)
    bias = convolution.bias.view(-1, 1, 1, 1)
    torch.testing.assert_close(first + bias, to_maps(expected))
    last = channel_major.linear_to_pixels(to_maps(images), convolution)
    torch.testing.assert_close(last, from_images(expected))


def test_gradients_of_products() -> None:
    """Those that keep a channel in a row."""
    convolution, weight = nn.Conv2d(4, 3, 1).double(), random(3, 4).requires_grad_()
    maps = random(4, 2, 3, 2).requires_grad_()

    def to_pixels(maps: Tensor, *_: Tensor) -> Tensor:
        return channel_major.linear_to_pixels(maps, convolution)

    assert torch.autograd.gradcheck(to_pixels, (maps, *convolution.parameters()))
    columns = random(4, 6).requires_grad_()
    assert torch.autograd.gradcheck(channel_major.product, (weight, columns))


# Normalisation ----------------------------------------------------------------


@pytest.mark.parametrize("along", [0, 1])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("differentiated", [True, False])
def test_normalisation_is_pytorchs(
    along: int, training: bool, differentiated: bool
) -> None:
    """Results, gradients and running statistics, a channel in a row or a column."""
    results = []
    for own in (True, False):
        torch.manual_seed(0)
        norm = nn.BatchNorm2d(5).double().train(training)
        for tensor in (norm.weight, norm.bias, norm.running_mean, norm.running_var):
            nn.init.uniform_(tensor, 0.5, 1.5)
        matrix = (3 + 2 * random(5, 40)).requires_grad_()
        with torch.set_grad_enabled(differentiated):
            if own:
                given = matrix if along == 1 else matrix.t().contiguous()
                result = batch_norm.norm_relu(given, norm, along)
                result = result if along == 1 else result.t()
            else:
                result = norm(matrix.view(1, 5, 40, 1)).relu().view(5, 40)
        if differentiated:
            (result * random(5, 40)).sum().backward()
        gradients = [matrix.grad, norm.weight.grad, norm.bias.grad]
        results.append([result, *gradients, *norm.buffers()])
    for own, expected in zip(*results, strict=True):
        if expected is not None:
            torch.testing.assert_close(own, expected)


def test_statistics_of_long_rows_are_exact_to_rounding() -> None:
    """Protects accuracy: PyTorch's sums of 10^5 numbers lose three digits."""
    matrix = (torch.randn(100_000, 8) + 10).requires_grad_()
    norm = nn.BatchNorm2d(8)
    result = batch_norm.norm_relu(matrix, norm, along=0)
    exact = matrix.detach().double()
    centred = exact - exact.mean(dim=0)
    expected = (centred / centred.square().mean(dim=0).add(norm.eps).sqrt()).relu()
    assert (result - expected).norm() < 3e-6 * expected.norm()


# Folding ----------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_predictions_follow_weights_and_statistics(variant: str) -> None:
    """Loaded while in evaluation mode, or moved by a pass in training mode."""
    model, images = small(variant), torch.randn(3, 3, 32, 32)
    assert_predicts_as_plain(model, images)
    move(model, seed=2)
    assert_predicts_as_plain(model, images)
    with torch.no_grad():
        before = model(images)
        model.train()(3 * images + 1)
        model.eval()
        assert not torch.allclose(model(images), before, rtol=1e-2)
    assert_predicts_as_plain(model, images)


@pytest.mark.parametrize("variant", ["ha-san-pairwise", "ha-san-patchwise"])
def test_predictions_of_several_sizes(variant: str) -> None:
    """What is kept for maps of one size is not used for another."""
    model = small(variant)
    for height, width in ((8, 12), (12, 8), (8, 12)):
        assert_predicts_as_plain(model, torch.randn(2, 3, height, width))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_norm_that_trains_alone_is_not_folded(variant: str) -> None:
    """It takes the statistics of the batch, as in the plain form."""
    model, images = small(variant), torch.randn(3, 3, 32, 32)
    for module in model.modules():
        if isinstance(module, nn.Sequential):
            module[3].train()
    assert_predicts_as_plain(model, images)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_few_rows_at_a_time(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of parts of a map are those of the whole, and all are recorded."""
    model, images = small(variant).double(), random(2, 3, 32, 32)
    whole = reattn.attention_probabilities(model, images)
    monkeypatch.setattr("reattn.models.folded_attention.NUMBERS_IN_A_STRIP", 1)
    parts = reattn.attention_probabilities(model, images)
    for one, other in zip(parts, whole, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("variant", VARIANTS)
def test_mixed_precision(variant: str) -> None:
    """Runs in both modes and stays near to float32."""
    model, images = small(variant), torch.randn(3, 3, 32, 32)
    with torch.no_grad():
        exact = model(images)
        with torch.autocast("cpu", torch.bfloat16):
            mixed = model(images)
    assert (mixed - exact).norm() < 0.1 * exact.norm()
    with torch.autocast("cpu", torch.bfloat16):
        scores = model.train()(images)
    scores.float().square().sum().backward()
    assert all(
        p.grad.isfinite().all() for p in model.parameters() if p.grad is not None
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_batch_in_parts(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Predicted one by one, the same; recorded and trained with, as one batch."""
    model, images = small(variant).double(), random(3, 3, 32, 32)
    with torch.no_grad():
        whole = model(images)
    recorded = reattn.attention_probabilities(model, images)
    monkeypatch.setattr("reattn.models.batch_parts.NUMBERS_IN_A_PART", 1)
    with torch.no_grad():
        torch.testing.assert_close(model(images), whole)
        again = reattn.attention_probabilities(model, images)
        assert [maps.shape for maps in again] == [maps.shape for maps in recorded]
        plain = set_form(copy.deepcopy(model), "plain").train()
        torch.testing.assert_close(model.train()(images), plain(images))
