"""The shipped form of every model is the function that its plain form is."""

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import same_function as same
import torch
from same_function import ENCODERS, SAN, VARIANTS
from torch import Tensor, nn
from torch.nn import functional as F

from reattn.models.forms import set_form
from reattn.models.recording import record_attention

SQUARE, ODD = (16, 16), (10, 14)
DROPOUT = 0.3

CONTENT_FREE = [name for name in ENCODERS if "quadratic" in name or "-no" in name]

# Settings that a variant of a user may have and none of the report's has.
SETTINGS = [
    ("learned2d-9h-content", {"content_alignment": "aligned"}),
    ("learned2d-16h-content", {"content_alignment": "aligned"}),
    ("ha-learned2d-9h-content", {"value_projection": True, "patch_size": 4}),
    ("learned2d-9h-content", {"heads": 1}),
    ("learned2d-9h-nocontent", {"hierarchical": True}),
    ("learned2d-16h-nocontent", {"heads": 1, "patch_size": 1}),
    ("quadratic-9h-isotropic", {"gaussian_centre": "corrected", "patch_size": 4}),
    ("quadratic-9h-anisotropic", {"gaussian_centre": "corrected"}),
    ("quadratic-16h-anisotropic", {"hierarchical": True}),
    ("vit", {"class_token": "learned"}),
    ("vit", {"residual": "input", "heads": 1}),
    ("ha-vit", {"class_token": "learned", "residual": "input"}),
    ("ha-san-pairwise", {"pre_activation": "official"}),
    ("ha-san-patchwise", {"pre_activation": "official"}),
]


def odd(name: str) -> tuple[int, int]:
    """An image of an odd grid, as small as the variant allows."""
    return (14, 22) if name in ("san-pairwise", "san-patchwise") else ODD


def small(name: str, size: tuple[int, int] = SQUARE, seed: int = 0) -> nn.Module:
    """A narrow model of a variant."""
    return same.build(name, size, seed, **same.small(name))


def assert_same(model: nn.Module, batch: int, draws: int = 3) -> None:
    """Compare both forms over draws of images."""
    given = [same.draw(model, batch, seed) for seed in range(1, draws + 1)]
    same.assert_as_exact([same.three(model, one) for one in given])


def assert_close(result: Tensor, expected: Tensor) -> None:
    """Equal but for rounding in float64."""
    torch.testing.assert_close(result, expected, rtol=1e-9, atol=1e-11)


# Outputs and gradients -------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("name", VARIANTS)
def test_evaluation_with_random_weights(name: str, batch: int) -> None:
    """Predictions, outputs and every gradient, on a square map and on an odd one."""
    assert_same(small(name), batch)
    assert_same(small(name, odd(name)), batch)


@pytest.mark.parametrize("name", VARIANTS)
def test_evaluation_with_peaked_attention(name: str) -> None:
    """Scores of a hundred and more lose no more than they must."""
    assert_same(same.peak(small(name, odd(name))), 1)
    assert_same(same.peak(small(name)), 5)


@pytest.mark.parametrize("name", VARIANTS)
def test_evaluation_with_trained_weights(name: str) -> None:
    """Weights that learned something are no harder than random ones."""
    assert_same(same.train(small(name), SQUARE), 3)


@pytest.mark.parametrize("size", [SQUARE, None])
@pytest.mark.parametrize("name", VARIANTS)
def test_training_with_one_dropout_mask(name: str, size: tuple[int, int]) -> None:
    """What is dropped is the same, and so is what is learned from the rest."""
    size = size or odd(name)
    dropout = {"attention_dropout": DROPOUT} if name in ENCODERS else {}
    model = same.build(name, size, **same.small(name, **dropout)).train()
    positions = size[0] * size[1] // 4 + ("vit" in name)
    for batch in (1, 5):
        with same.fixed_masks(batch, 3, positions, DROPOUT):
            assert_same(model, batch)


@pytest.mark.parametrize("name", VARIANTS)
def test_training_without_dropout(name: str) -> None:
    """Training mode in itself does not change what a model computes."""
    none = {"attention_dropout": 0.0} if name in ENCODERS else {}
    model = same.build(name, odd(name), **same.small(name, **none)).train()
    assert_same(model, 3)


@pytest.mark.parametrize(("name", "changes"), SETTINGS)
def test_settings_of_other_variants(name: str, changes: dict) -> None:
    """Every setting of a family, also those that no model of the report has."""
    model = same.build(name, (8, 8), **same.small(name, **changes))
    assert_same(model, 1)
    assert_same(same.peak(model), 6)


@pytest.mark.parametrize("name", ENCODERS)
def test_map_of_a_single_row(name: str) -> None:
    """One row of patches has one relative row."""
    model = same.build(name, (2, 14), **same.small(name))
    assert_same(model, 3)


@pytest.mark.parametrize("name", CONTENT_FREE)
def test_large_odd_map(name: str) -> None:
    """Rows and columns are attended to one after the other if there are many.

    Such maps have 17 rows and 21 columns; where the two are mixed up, nothing fits.
    """
    model = same.build(name, (34, 42), **same.small(name))
    assert_same(same.peak(model), 2)


@pytest.mark.parametrize("name", [*ENCODERS, *SAN])
def test_full_width(name: str) -> None:
    """Where folding and fusing pay depends on the width.

    One image has few positions for its width, twenty-four have many.
    """
    size = (16, 24) if name in SAN else ODD
    model = same.peak(same.build(name, size, **same.full_width(name)))
    if name in ENCODERS:
        same.without_kinks(model)
    assert_same(model, 1, draws=1 if name in ENCODERS else 3)
    if name in ENCODERS:
        assert_same(model, 24, draws=1)


@pytest.mark.parametrize("name", [name for name in VARIANTS if "ha-" not in name])
def test_predictions_at_full_size(name: str) -> None:
    """32 x 32 images and the full width, for one image and for a few."""
    model = same.build(name, (32, 32), **same.full_width(name))
    for batch in (1, 4):
        given = same.draw(model, batch)
        same.assert_as_exact([same.three_predictions(model, given)])


# Probabilities ---------------------------------------------------------------


@pytest.mark.parametrize("name", [*ENCODERS, *SAN])
def test_recorded_probabilities(name: str) -> None:
    """What is recorded in either form, of every layer, is the same."""
    model = same.peak(small(name, odd(name)))
    runs = [same.three_recordings(model, same.draw(model, 2, seed)) for seed in (1, 2)]
    same.assert_as_exact(runs)
    recorded = [one for key, one in runs[0][0].items() if key.startswith("probabi")]
    assert len(recorded) == len(runs[0][2]) > 1


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("batch", [1, 7])
def test_recorded_probabilities_are_applied(name: str, batch: int) -> None:
    """Values gathered by hand with what is recorded are what the layer returns."""
    model = same.peak(small(name, odd(name))).double()
    attention = model.encoder.blocks[0].attention
    positions = 5 * 7 + ("vit" in name)
    features = torch.randn(batch, positions, 24, dtype=torch.float64)
    probabilities = recorded_matrix(attention, features)
    assert_close(probabilities.sum(-1), torch.ones_like(probabilities[..., 0]))
    expected = gathered(attention, probabilities, features)
    with torch.no_grad():
        assert_close(attention(features)[0], expected)
    assert_close(attention(features)[0].detach(), expected)


@pytest.mark.parametrize("name", [name for name in ENCODERS if "ha-" in name])
def test_recorded_probabilities_of_later_passes_are_applied(name: str) -> None:
    """A pass that uses the keys of an earlier one is recorded as it attends."""
    model = same.peak(small(name, odd(name))).double()
    attention = model.encoder.blocks[0].attention
    shape = (7, 5 * 7 + ("vit" in name), 24)
    earlier, later = torch.randn(2, *shape, dtype=torch.float64)
    with torch.no_grad():
        result, _ = attention(later, attention(earlier)[1])
        set_form(attention, "plain")
        keys = attention(earlier)[1]
        probabilities = recorded_matrix(attention, later, keys)
        assert_close(result, gathered(attention, probabilities, later))


@pytest.mark.parametrize("name", SAN)
def test_recorded_local_weights_are_applied(name: str) -> None:
    """Neighbours summed by hand with what is recorded are what the layer returns."""
    model = same.peak(small(name, odd(name))).double()
    blocks = model.shared if name.startswith("ha-") else model.stages[0].blocks
    attention = blocks[0].attention
    features = torch.randn(3, 32, 7, 9, dtype=torch.float64)
    with torch.no_grad(), record_attention(attention) as recording:
        attention(features)
    padded = F.pad(attention.value(features), (1, 1, 1, 1), mode="reflect")
    around = F.unfold(padded, 3).unflatten(1, (8, 1, 9)).unflatten(4, (7, 9))
    weights = recording[0].flatten(4).permute(0, 1, 4, 2, 3).unsqueeze(1)
    expected = (weights * around).sum(3).flatten(1, 2).detach()
    with torch.no_grad():
        assert_close(attention(features)[0], expected)
    assert_close(attention(features)[0].detach(), expected)


def recorded_matrix(
    attention: nn.Module, features: Tensor, keys: object = None
) -> Tensor:
    """What is recorded, (batch, heads, queries, keys), with the class token if any."""
    with torch.no_grad(), record_attention(attention) as recording:
        attention(features, keys)
    (maps,) = recording
    images = maps.flatten(4).flatten(2, 3)
    if not recording.token_masses:
        return images
    (token,) = recording.token_masses
    of_token = torch.cat(
        [token.on_itself[..., None], token.from_token.flatten(2)], dim=-1
    )
    of_images = torch.cat([token.to_token.flatten(2)[..., None], images], dim=-1)
    return torch.cat([of_token[:, :, None], of_images], dim=2)


def gathered(attention: nn.Module, probabilities: Tensor, features: Tensor) -> Tensor:
    """The output map of each head's mean of values, head by head."""
    projection, contexts = attention.values.projection, []
    for head in range(attention.values.heads):
        values = features
        if projection is not None:
            width = features.shape[-1]
            rows = projection.weight[head * width : (head + 1) * width]
            values = features @ rows.T
        contexts.append(probabilities[:, head] @ values)
    return attention.values.output(torch.cat(contexts, dim=-1)).detach()


# Weights that change between predictions --------------------------------------


def other_state(model: nn.Module) -> dict[str, Tensor]:
    """Weights and statistics of the same model, but other ones."""
    state = {}
    for key, value in model.state_dict().items():
        factor = 1 + 0.3 * torch.rand_like(value.double())
        state[key] = value * factor if value.is_floating_point() else value + 1
    return state


def loaded(model: nn.Module) -> None:
    model.load_state_dict(other_state(model))


def assigned(model: nn.Module) -> None:
    model.load_state_dict(other_state(model), assign=True)


def changed_in_place(model: nn.Module) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1 + 0.3 * torch.rand_like(parameter))


def given_other_data(model: nn.Module) -> None:
    for parameter in model.parameters():
        parameter.data = parameter.data * 1.2


def rounded(model: nn.Module) -> None:
    """To half of the precision and back."""
    model.to(torch.bfloat16).to(torch.float64)


def replaced(model: nn.Module) -> None:
    for module in model.modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            setattr(module, name, nn.Parameter(parameter.detach() * 1.2))


def a_step(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    given = same.cast_to(torch.float64, same.draw(model, 3, seed=9))
    outputs = model(given.images, **given.arguments)
    (outputs * given.direction).sum().backward()
    optimizer.step()


def a_step_in_evaluation(model: nn.Module) -> None:
    a_step(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))


def a_step_in_training(model: nn.Module) -> None:
    a_step(model.train(), torch.optim.AdamW(model.parameters(), lr=0.1, foreach=True))
    model.eval()


def a_fused_step_in_training(model: nn.Module) -> None:
    """Fused optimisers leave the versions of weights as they were."""
    a_step(model.train(), torch.optim.Adam(model.parameters(), lr=0.1, fused=True))
    model.eval()


def a_fused_step_in_evaluation(model: nn.Module) -> None:
    """No module sees that it trains, but a pass with gradients is seen."""
    a_step(model, torch.optim.Adam(model.parameters(), lr=0.1, fused=True))


def a_fused_step_in_plain_form(model: nn.Module) -> None:
    """Training in the other form is seen as well."""
    a_fused_step_in_evaluation(set_form(model, "plain"))
    set_form(model, "shipped")


def a_batch_in_training(model: nn.Module) -> None:
    """Without gradients: only the statistics of norms change, if there are any."""
    predictions(model.train(), seed=8)
    model.eval()


CHANGES: list[Callable[[nn.Module], None]] = [
    *(loaded, assigned, changed_in_place, given_other_data),
    *(rounded, replaced, a_step_in_evaluation),
    *(a_step_in_training, a_fused_step_in_training, a_batch_in_training),
    *(a_fused_step_in_evaluation, a_fused_step_in_plain_form),
]


def predictions(model: nn.Module, seed: int = 1, batch: int = 5) -> Tensor:
    """What a model in float64 predicts for one image and for several."""
    given = [same.draw(model, images, seed) for images in (1, batch)]
    exact = [same.cast_to(torch.float64, one) for one in given]
    return torch.cat([same.predict(model, one) for one in exact])


def plain_predictions(model: nn.Module) -> Tensor:
    """The same of the plain form of a copy, which has never predicted."""
    return predictions(set_form(copy.deepcopy(model), "plain"))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", VARIANTS)
def test_predictions_follow_the_weights(name: str, change: Callable) -> None:
    """Predict, change the weights while still in evaluation mode, predict again."""
    model = small(name).double()
    before = predictions(model)
    assert_close(before, plain_predictions(model))
    change(model)
    after = predictions(model)
    assert_close(after, plain_predictions(model))
    norms = [one for one in model.modules() if isinstance(one, nn.BatchNorm2d)]
    if change is not a_batch_in_training or norms:
        assert not torch.allclose(after, before, rtol=1e-4)


@pytest.mark.parametrize("name", VARIANTS)
def test_predictions_follow_every_single_weight(name: str) -> None:
    """Each parameter and each statistic alone makes what is kept of it anew."""
    model = small(name, (8, 8) if name in ENCODERS else odd(name)).double()
    given = same.cast_to(torch.float64, same.draw(model, 2))
    same.predict(model, given)
    for key, value in (*model.named_parameters(), *model.named_buffers()):
        with torch.no_grad():
            value.mul_(2)
        shipped = same.predict(model, given)
        plain = same.predict(set_form(model, "plain"), given)
        set_form(model, "shipped")
        assert torch.allclose(shipped, plain, rtol=1e-9, atol=1e-11), key


@pytest.mark.parametrize("name", VARIANTS)
def test_predictions_with_weights_of_another_call(name: str) -> None:
    """Weights handed over for one call serve that call alone."""
    model = small(name).double()
    before, state = predictions(model), other_state(model)
    given = same.cast_to(torch.float64, same.draw(model, 5))

    def with_state() -> Tensor:
        with torch.no_grad():
            arguments = given.images, given.arguments
            return torch.func.functional_call(model, state, *arguments)

    theirs = with_state()
    assert_close(predictions(model), before)
    set_form(model, "plain")
    assert_close(theirs, with_state())
    assert not torch.allclose(theirs, before[1:], rtol=1e-4)


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_copies_keep_nothing_of_the_original(name: str, copied: Callable) -> None:
    """A copy that learns leaves the original as it was, and the other way round."""
    model = small(name).double()
    before = predictions(model)
    other = copied(model)
    assert_close(predictions(other), before)
    changed_in_place(other)
    assert_close(predictions(other), plain_predictions(other))
    assert_close(predictions(model), before)
    changed_in_place(model)
    assert_close(predictions(model), plain_predictions(model))


@pytest.mark.parametrize("name", VARIANTS)
def test_predictions_follow_the_type(name: str) -> None:
    """From float64 to float32 and back."""
    model = small(name).double()
    exact = predictions(model)
    model.float()
    given = same.draw(model, 5)
    single = same.predict(model, given)
    assert single.dtype == torch.float32
    torch.testing.assert_close(single, exact[1:].float(), rtol=1e-3, atol=1e-3)
    assert_close(predictions(model.double()), plain_predictions(model))


@pytest.mark.parametrize("name", VARIANTS)
def test_inference_mode_and_gradients_in_turn(name: str) -> None:
    """Tensors made in inference mode never meet autograd."""
    model = small(name).double()
    given = same.cast_to(torch.float64, same.draw(model, 5))
    expected = same.predict(set_form(copy.deepcopy(model), "plain"), given)
    for _ in range(2):
        with torch.inference_mode():
            inferred = model(given.images, **given.arguments)
        assert_close(inferred.clone(), expected)
        assert_close(same.predict(model, given), expected)
        model(given.images, **given.arguments).sum().backward()
    gradients = [one.grad is not None for one in model.parameters()]
    assert sum(gradients) > len(gradients) / 2


@pytest.mark.parametrize("name", VARIANTS)
def test_mixed_precision_on_and_off(name: str) -> None:
    """What is kept for one precision is not used in the other."""
    model = small(name)
    given = same.draw(model, 5)

    def mixed() -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return same.predict(model, given).float()

    results = [same.predict(model, given), mixed(), same.predict(model, given), mixed()]
    torch.testing.assert_close(results[2], results[0], rtol=0, atol=0)
    torch.testing.assert_close(results[3], results[1], rtol=0, atol=0)
    set_form(model, "plain")
    exact = same.predict(model, given)
    errors = [(result - exact).norm() for result in (*results[:2], mixed())]
    assert errors[0] < 1e-4 * exact.norm()
    assert errors[1] <= same.ALLOWED * errors[2]


@pytest.mark.parametrize("name", VARIANTS)
def test_predicting_leaves_no_trace_in_the_state(name: str) -> None:
    """What is kept is no parameter, no buffer and no part of a checkpoint."""
    model = small(name).double()
    state = copy.deepcopy(model.state_dict())
    names = [key for key, _ in (*model.named_parameters(), *model.named_buffers())]
    predictions(model)
    assert list(model.state_dict()) == list(state)
    assert all(
        torch.equal(value, state[key]) for key, value in model.state_dict().items()
    )
    after = [key for key, _ in (*model.named_parameters(), *model.named_buffers())]
    assert after == names
    set_form(small(name, seed=1).double(), "plain").load_state_dict(model.state_dict())


@pytest.mark.parametrize("name", VARIANTS)
def test_a_model_that_predicted_learns_the_same(name: str) -> None:
    """Steps and predictions in turn: both forms stay one model."""
    dropout = {"attention_dropout": 0.0} if name in ENCODERS else {}
    model = same.build(name, SQUARE, **same.small(name, **dropout)).double()
    results = []
    for form in ("shipped", "plain"):
        learner = set_form(copy.deepcopy(model), form)
        optimizer = torch.optim.SGD(learner.parameters(), lr=0.01)
        seen = []
        for _ in range(3):
            seen.append(predictions(learner.eval()))
            optimizer.zero_grad()
            a_step(learner.train(), optimizer)
        results.append(torch.cat([*seen, predictions(learner.eval())]))
    torch.testing.assert_close(results[0], results[1], rtol=1e-7, atol=1e-9)
    assert not torch.allclose(results[0][:6], results[0][-6:], rtol=1e-4)


@pytest.mark.parametrize("name", VARIANTS)
def test_threads_that_predict_at_once(name: str) -> None:
    """One with gradients, one in another precision, two without: none is disturbed."""
    model = small(name)
    given = same.draw(model, 2)

    def plainly() -> Tensor:
        return same.predict(model, given)

    def with_gradients() -> Tensor:
        return model(given.images, **given.arguments).detach()

    def mixed() -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return same.predict(model, given)

    kinds = [plainly, with_gradients, mixed, plainly]
    alone = [kind() for kind in kinds]
    with ThreadPoolExecutor(len(kinds)) as pool:
        together = [pool.submit(kind) for _ in range(5) for kind in kinds]
        for number, result in enumerate(together):
            expected = alone[number % len(kinds)]
            torch.testing.assert_close(result.result(), expected, rtol=1e-5, atol=1e-6)
