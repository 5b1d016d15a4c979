"""SAN and hierarchical SAN: neighbourhoods, weights, sizes."""

import pytest
import torch
from torch import Tensor, nn

import reattn
from reattn.errors import ConfigError
from reattn.models.forms import set_form
from reattn.models.neighbourhoods import aggregate, neighbourhoods
from reattn.models.recording import record_attention
from reattn.models.san_attention import local_attention, position_map

PARAMETERS = {
    "san-pairwise": 2_446_318,
    "san-patchwise": 2_512_654,
    "ha-san-pairwise": 352_750,
    "ha-san-patchwise": 356_282,
}
VARIANTS = list(PARAMETERS)
PAIRWISE = [variant for variant in VARIANTS if variant.endswith("pairwise")]
PATCHWISE = [variant for variant in VARIANTS if variant.endswith("patchwise")]


def small(variant: str, **overrides: object) -> nn.Module:
    """A narrow model in float64, with weights of the same seed at every call.

    Norms start with bias 0, and offsets between neighbours have mean 0: at the
    start some sums are 0 but for rounding, where a ReLU has no gradient. So norms
    and biases are moved away from their initial values.
    """
    torch.manual_seed(0)
    model = reattn.build_model(variant, width=32, **overrides).double()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def images(height: int = 32, width: int = 32, count: int = 3) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    shape = (count, 3, height, width)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def random(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("variant", VARIANTS)
def test_parameters(variant: str) -> None:
    """As many as the authors' own modules have."""
    model = reattn.build_model(variant)
    assert sum(p.numel() for p in model.parameters()) == PARAMETERS[variant]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("training", [True, False])
def test_forms_agree(variant: str, training: bool) -> None:
    """Plain and shipped: one function, one gradient."""
    results = []
    for form in ("plain", "shipped"):
        model = set_form(small(variant), form).train(training)
        scores = model(images())
        (scores * random(*scores.shape)).sum().backward()
        gradients = {n: p.grad for n, p in model.named_parameters()}
        results.append((scores, gradients))
    (plain, plain_gradients), (shipped, shipped_gradients) = results
    torch.testing.assert_close(shipped, plain, rtol=1e-10, atol=1e-12)
    for name, gradient in plain_gradients.items():
        if gradient is None:
            assert shipped_gradients[name] is None, name
        else:
            torch.testing.assert_close(
                shipped_gradients[name], gradient, rtol=1e-8, atol=1e-10
            )


@pytest.mark.parametrize("sides", [(2, 3), (9, 12)])
def test_aggregation_is_the_sum_over_reflected_neighbours(
    sides: tuple[int, int],
) -> None:
    """Channel c of pixel (i, j): sum over neighbours of weight c mod W times value."""
    height, width = sides
    values, weights = random(2, 6, height, width), random(2, 3, 9, height * width)
    result = aggregate(values, weights)
    row, column, channel = height - 1, 0, 4
    expected = 0.0
    for neighbour in range(9):
        i, j = row + neighbour // 3 - 1, column + neighbour % 3 - 1
        i, j = abs(i) if i < height else 2 * (height - 1) - i, abs(j)
        weight = weights[:, channel % 3, neighbour, row * width + column]
        expected = expected + weight * values[:, channel, i, j]
    torch.testing.assert_close(result[:, channel, row, column], expected)


def test_neighbourhoods() -> None:
    """Nine neighbours, row by row, the pixel itself in the middle."""
    maps = random(2, 3, 4, 5)
    around = neighbourhoods(maps)
    assert torch.equal(around[:, :, 4], maps.flatten(2))
    inner = around.unflatten(3, (4, 5))[..., 2, 2]
    assert torch.equal(inner[..., 0], maps[..., 1, 1])
    assert torch.equal(inner[..., 5], maps[..., 2, 3])


def test_position_map_has_columns_then_rows() -> None:
    """Both run from -1 to 1, in the type of the features."""
    columns, rows = position_map(3, 5, random(1))[0]
    assert columns.dtype == torch.float64
    assert columns[2].tolist() == [-1, -0.5, 0, 0.5, 1]
    assert rows[:, 2].tolist() == [-1, 0, 1]


@pytest.mark.parametrize("variant", PAIRWISE)
def test_pairwise_weights_sum_to_one(variant: str) -> None:
    """They are probabilities over the nine neighbours."""
    for weights in reattn.attention_probabilities(small(variant), images()):
        assert (weights >= 0).all()
        sums = weights.sum((-2, -1))
        torch.testing.assert_close(sums, torch.ones_like(sums))


@pytest.mark.parametrize("variant", PATCHWISE)
def test_patchwise_weights_have_no_softmax(variant: str) -> None:
    """They are of either sign and sum to anything."""
    calls = reattn.attention_probabilities(small(variant), images())
    assert min(weights.min() for weights in calls) < 0
    sums = torch.cat([weights.sum((-2, -1)).flatten() for weights in calls])
    assert sums.std() > 1e-3


def test_recorded_weights_of_every_call() -> None:
    """One tensor a bottleneck: batch, weight channels, rows, columns, 3, 3."""
    calls = reattn.attention_probabilities(small("san-pairwise"), images(32, 48))
    maps = [(16, 24), (8, 12), (4, 6), (2, 3)]
    channels = [1, 4, 8, 16]
    expected = [
        (3, count, *sides, 3, 3)
        for count, sides in zip(channels, maps, strict=True)
        for _ in range(2)
    ]
    assert [tuple(weights.shape) for weights in calls] == expected
    passes = reattn.attention_probabilities(small("ha-san-patchwise"), images(8, 6))
    assert [tuple(weights.shape) for weights in passes] == [(3, 1, 8, 6, 3, 3)] * 8


@pytest.mark.parametrize("operation", ["pairwise", "patchwise"])
@pytest.mark.parametrize("form", ["plain", "shipped"])
def test_recorded_weights_are_those_attended_with(operation: str, form: str) -> None:
    """Gathering by hand with what was recorded gives the attention's output."""
    torch.manual_seed(0)
    attention = set_form(local_attention(operation, 32).double().eval(), form)
    features = random(2, 32, 9, 10)
    with record_attention(attention) as recording:
        gathered, _ = attention(features)
    around = neighbourhoods(attention.value(features)).unflatten(3, (9, 10))
    weights = recording[0].flatten(4).permute(0, 1, 4, 2, 3)
    torch.testing.assert_close(gathered, (weights * around).sum(2))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_permuted_batch_gives_permuted_outputs(variant: str) -> None:
    """No image looks at another one."""
    model, batch, order = small(variant).eval(), images(), [2, 0, 1]
    torch.testing.assert_close(model(batch[order]), model(batch)[order])
    torch.testing.assert_close(model(batch[:1]), model(batch)[:1])


@pytest.mark.parametrize("variant", VARIANTS)
def test_maps_need_not_be_square(variant: str) -> None:
    """Both forms agree on a map that is wider than high."""
    model, wide = small(variant, image_size=(32, 64)), images(32, 64)
    shipped = model(wide)
    assert shipped.shape == (3, 10)
    torch.testing.assert_close(shipped, set_form(model, "plain")(wide))


@pytest.mark.parametrize("operation", ["pairwise", "patchwise"])
def test_three_stages_at_16_and_not_four(operation: str) -> None:
    """Four poolings leave a map of 1x1, which cannot be padded by reflection."""
    variant = f"san-{operation}"
    model = small(variant, image_size=16, stages=3)
    assert model(images(16, 16)).shape == (3, 10)
    with pytest.raises(ConfigError, match=r"4.*16x16.*3"):
        reattn.build_model(variant, image_size=16)


def test_impossible_settings_are_refused() -> None:
    """A width that eight value channels cannot share; a map of one pixel."""
    with pytest.raises(ConfigError, match="multiple of 32"):
        reattn.build_model("san-pairwise", width=48)
    with pytest.raises(ConfigError, match="multiple of 32"):
        reattn.build_model("ha-san-patchwise", width=16)
    with pytest.raises(ConfigError, match="1x8"):
        reattn.build_model("ha-san-patchwise", image_size=(1, 8))


def test_keys_come_from_the_first_call_alone() -> None:
    """Hierarchical: one key map is used once, the other one never."""
    model = small("ha-san-pairwise")
    calls = []
    for index, block in enumerate(model.shared):
        key = block.attention.key
        key.register_forward_hook(lambda *_, index=index: calls.append(index))
    set_form(model, "plain")(images())
    assert calls == [0]
    model(images()).sum().backward()
    assert model.shared[0].attention.key.weight.grad is not None
    assert model.shared[1].attention.key.weight.grad is None


def test_pre_activation() -> None:
    """D5: the authors' attention reads x, and the norm before it has no effect."""
    authors = small("ha-san-pairwise")
    official = small("ha-san-pairwise", pre_activation="official")
    for model in (authors, official):
        model(images()).sum().backward()
    assert authors.shared[0].norm.weight.grad is None
    assert official.shared[0].norm.weight.grad is not None
    assert not torch.allclose(authors(images()), official(images()))


def test_passes_share_their_bottlenecks() -> None:
    """A pass more costs a convolution and a norm, and nothing else."""
    counts = [
        sum(p.numel() for p in small("ha-san-pairwise", layers=layers).parameters())
        for layers in (1, 2, 3)
    ]
    assert counts[2] - counts[1] == counts[1] - counts[0] == 32 * 32 + 2 * 32
