"""Attention with fewer maps of the features: each leaves out what its name says."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

import pytest
import same_function as same
import torch
from torch import Tensor, nn
from torch.distributed._tools.mem_tracker import MemTracker
from torch.nn import functional as F

from reattn.config import load_variants
from reattn.config.models import ProjectionsSettings
from reattn.costs.formulas import flops_by_formula
from reattn.costs.memory import estimate_training_memory
from reattn.costs.parameters import parameters_by_formula
from reattn.costs.projections import WITHOUT_QUERY
from reattn.measure.flops import count_flops, count_parameters
from reattn.models.attention_functions import fold_values_into_output
from reattn.models.build import build_model
from reattn.models.projections import ProjectionsAttention
from reattn.models.recording import attention_probabilities, record_attention

VARIANTS = {
    name: variant
    for name, variant in load_variants().items()
    if variant.model.family == "projections"
}
BASE = "projections-separate"
MATCHED = [name for name in VARIANTS if name.endswith("-matched")]
PLAIN_SIZED = [name for name in VARIANTS if name not in MATCHED]
FULL_SIZE, SIZE, CLASSES = 32, 16, 5
SMALL = {"heads": 3, "width": 16, "feed_forward": 20, "layers": 2}
SCORES = ("separate", "tied", "shared", "no-key", "no-query", "dot", "cosine")
SYMMETRIC = ("tied", "shared", "dot", "cosine")
VALUES = ("separate", "none", "merged")
MAPS = [
    ("shared", "shared"),
    *product([one for one in SCORES if one != "shared"], VALUES),
]
# The module of separate maps is that of the family learned2d, with tests of its own.
OWN_MAPS = [maps for maps in MAPS if maps != ("separate", "separate")]
GRID, HEADS, WIDTH, TEMPERATURE = (3, 4), 2, 6, 0.3
every_variant = pytest.mark.parametrize("name", VARIANTS)
every_form_of_scores = pytest.mark.parametrize(
    ("scores", "values"), [maps for maps in OWN_MAPS if maps[1] != "merged"]
)


def small_model(name: str, **settings: object) -> nn.Module:
    torch.manual_seed(0)
    settings = SMALL | settings
    return build_model(name, image_size=SIZE, num_classes=CLASSES, **settings)


def small_settings(name: str) -> ProjectionsSettings:
    return VARIANTS[name].model.model_copy(update=SMALL)


@contextmanager
def double_precision() -> Iterator[None]:
    """Within it, weights are drawn in double precision."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def attention_of(scores: str, values: str, **changes: object) -> ProjectionsAttention:
    """A small attention in double precision, in evaluation mode."""
    sizes = {"heads": HEADS, "width": WIDTH, "feed_forward": 8}
    sizes |= {"temperature": TEMPERATURE} | changes
    settings = ProjectionsSettings(
        family="projections", scores=scores, values=values, **sizes
    )
    torch.manual_seed(0)
    with double_precision():
        return ProjectionsAttention(settings, GRID).eval()


def features(count: int = 2, seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    shape = (count, math.prod(GRID), WIDTH)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def recorded(attention: nn.Module, *arguments: object) -> Tensor:
    """Probabilities (batch, heads, queries, keys) of one call."""
    with torch.no_grad(), record_attention(attention) as recording:
        attention(*arguments)
    return recording[0].flatten(4).flatten(2, 3)


# What the variants are


def test_all_variants_train_alike_and_are_compared_with_the_one_of_all_maps():
    """Protects differences of accuracy from having another cause than the maps."""
    every = load_variants()
    report = every["learned2d-16h-content"]
    for number, variant in enumerate(
        sorted(VARIANTS.values(), key=lambda one: one.order), start=201
    ):
        assert (variant.group, variant.order) == ("projections", number)
        assert variant.recipe == report.recipe
        for setting in ("heads", "width", "feed_forward", "layers", "patch_size"):
            assert getattr(variant.model, setting) == getattr(report.model, setting)
    compared = {name: variant.compared_with for name, variant in VARIANTS.items()}
    assert compared.pop(BASE) is None
    assert set(compared.values()) == {BASE}


def test_every_variant_with_fewer_parameters_has_a_wider_one():
    """Protects the comparison of equal size; merged values are what no-value is."""
    smaller = set(PLAIN_SIZED) - {BASE, "projections-merged"}
    assert {f"{name}-matched" for name in smaller} == set(MATCHED)
    for name in MATCHED:
        plain = VARIANTS[name.removesuffix("-matched")].model
        assert VARIANTS[name].model == plain.model_copy(update={"matched": True})


@pytest.mark.parametrize("hierarchical", [False, True])
def test_with_all_maps_it_is_the_aligned_learned_encoding(hierarchical):
    """Bit for bit: names, weights, what is left of the random stream, outputs."""
    ours = small_model(BASE, hierarchical=hierarchical)
    stream = torch.get_rng_state()
    aligned = {"content_alignment": "aligned", "hierarchical": hierarchical}
    theirs = small_model("learned2d-16h-content", **aligned)
    assert torch.equal(torch.get_rng_state(), stream)
    weights, others = ours.state_dict(), theirs.state_dict()
    assert list(weights) == list(others)
    assert all(torch.equal(weights[name], others[name]) for name in weights)
    images = torch.randn(3, 3, SIZE, SIZE)
    with torch.no_grad():
        assert torch.equal(ours.eval()(images), theirs.eval()(images))


# What is computed


def of_head(attention: ProjectionsAttention, name: str, head: int) -> Tensor:
    """The square map of a head, or the identity where there is none."""
    owner = attention.values if name == "projection" else attention
    if getattr(owner, name, None) is None:
        return torch.eye(WIDTH, dtype=torch.float64)
    return getattr(owner, name).weight.unflatten(0, (HEADS, -1))[head]


def mapped(
    attention: ProjectionsAttention, scores: str, head: int, inputs: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """A head's queries, keys and values (positions, width) of the same features."""
    query, key, value = (
        of_head(attention, name, head) for name in ("query", "key", "projection")
    )
    if scores in ("tied", "shared"):
        key = query
    if scores == "shared":
        value = query
    return inputs @ query.T, inputs @ key.T, inputs @ value.T


def content_score(scores: str, query: Tensor, key: Tensor) -> Tensor:
    if scores == "cosine":
        return F.cosine_similarity(query, key, dim=0) / TEMPERATURE
    return query @ key / WIDTH**0.5


def position_score(
    attention: ProjectionsAttention, query: Tensor, head: int, down: int, right: int
) -> Tensor:
    """Of an offset in rows and columns, key minus query."""
    positions = attention.positions
    row = positions.tables.row.weight[right + GRID[1] - 1]
    column = positions.tables.column.weight[down + GRID[0] - 1]
    if attention.scores in WITHOUT_QUERY:
        return positions.row_keys(row)[head] + positions.column_keys(column)[head]
    half = WIDTH // 2
    return (query[:half] @ row + query[half:] @ column) / WIDTH**0.5


def probabilities_by_hand(
    attention: ProjectionsAttention, head: int, queries: Tensor, keys: Tensor
) -> Tensor:
    """(queries, keys) of one head, pair by pair."""
    places = list(product(range(GRID[0]), range(GRID[1])))
    table = [
        [
            content_score(attention.scores, query, key)
            + position_score(attention, query, head, k - i, column - j)
            for key, (k, column) in zip(keys, places, strict=True)
        ]
        for query, (i, j) in zip(queries, places, strict=True)
    ]
    return torch.stack([torch.stack(row) for row in table]).softmax(-1)


@pytest.mark.parametrize("hierarchical", [False, True])
@every_form_of_scores
@torch.no_grad()
def test_every_score_is_what_its_name_says(scores, values, hierarchical):
    """Pair by pair from the weights; later passes have the keys of the first."""
    attention = attention_of(scores, values)
    inputs = first = features(1)
    keys = None
    if hierarchical:
        inputs = features(1, seed=2)
        keys = attention(first)[1]
    expected, contexts = [], []
    for head in range(HEADS):
        queries, _, of_head_values = mapped(attention, scores, head, inputs[0])
        _, of_first, _ = mapped(attention, scores, head, first[0])
        expected.append(probabilities_by_hand(attention, head, queries, of_first))
        contexts.append(expected[-1] @ of_head_values)
    torch.testing.assert_close(
        recorded(attention, inputs, keys)[0], torch.stack(expected)
    )
    returned = attention(inputs, keys)[0][0]
    output = attention.values.output(torch.cat(contexts, dim=-1))
    torch.testing.assert_close(returned, output)


@pytest.mark.parametrize("size", [(SIZE, SIZE), (8, 12)])
@pytest.mark.parametrize("name", PLAIN_SIZED)
def test_probabilities_of_every_query_sum_to_one(name, size):
    """And are laid out as the figures read them, on maps that are not square too."""
    model = build_model(name, image_size=size, **SMALL)
    grid = (size[0] // 2, size[1] // 2)
    layers = attention_probabilities(model, torch.randn(2, 3, *size))
    assert len(layers) == SMALL["layers"]
    for probabilities in layers:
        assert probabilities.shape == (2, SMALL["heads"], *grid, *grid)
        sums = probabilities.sum((-2, -1))
        torch.testing.assert_close(sums, torch.ones_like(sums))


def without_positions(attention: ProjectionsAttention) -> ProjectionsAttention:
    for table in (attention.positions.tables.row, attention.positions.tables.column):
        nn.init.zeros_(table.weight)
    return attention


@every_form_of_scores
@torch.no_grad()
def test_without_tables_no_position_is_special(scores, values):
    """Permuted features give permuted outputs; with the tables they do not."""
    inputs = features()
    order = torch.randperm(inputs.shape[1], generator=torch.Generator().manual_seed(3))
    attention = attention_of(scores, values)
    assert not torch.allclose(
        attention(inputs[:, order])[0], attention(inputs)[0][:, order]
    )
    without_positions(attention)
    torch.testing.assert_close(
        attention(inputs[:, order])[0], attention(inputs)[0][:, order]
    )


@every_form_of_scores
def test_equal_features_are_told_apart_by_their_offset_alone(scores, values):
    """A translation of query and key changes no score, rows and columns apart."""
    attention = attention_of(scores, values)
    equal = features(1)[:, :1].expand(-1, math.prod(GRID), -1)
    scored = recorded(attention, equal)[0].log()
    scored = scored - scored.diagonal(dim1=1, dim2=2)[..., None]
    scored = scored.unflatten(2, GRID).unflatten(1, GRID)
    by_row = scored[:, :-1, :, :-1, :] - scored[:, 1:, :, 1:, :]
    by_column = scored[:, :, :-1, :, :-1] - scored[:, :, 1:, :, 1:]
    assert max(by_row.abs().max(), by_column.abs().max()) < 1e-12
    assert (scored[:, 0, 0, 1, 0] - scored[:, 0, 0, 0, 1]).abs().min() > 1e-3


def antisymmetric_part(probabilities: Tensor) -> float:
    """The largest s_ij + s_jk + s_ki - s_ji - s_kj - s_ik, whatever the softmax took.

    A number of the query alone, such as the softmax's, is in both sums.
    """
    scored = probabilities.log()
    other = scored.transpose(-2, -1)
    apart = scored - other
    around = apart[..., :, :, None] + apart[..., None, :, :]
    return (around - apart[..., :, None, :]).abs().max().item()


@every_form_of_scores
def test_scores_of_one_map_or_none_are_symmetric(scores, values):
    """Of content alone: what a pair thinks of one another is one number."""
    attention = without_positions(attention_of(scores, values))
    found = antisymmetric_part(recorded(attention, features()))
    assert (found < 1e-12) == (scores in SYMMETRIC)
    assert found < 1e-12 or found > 0.1


def test_scores_without_maps_are_the_same_for_all_heads():
    """Of content alone, and the head's own positions tell them apart."""
    for scores in ("dot", "cosine"):
        attention = attention_of(scores, "none")
        one, other = recorded(attention, features()).unbind(1)
        assert not torch.allclose(one, other)
        one, other = recorded(without_positions(attention), features()).unbind(1)
        torch.testing.assert_close(one, other)


def test_cosines_do_not_feel_the_length_of_features():
    """And dot products do: the one difference of the two without maps."""
    lengths = torch.linspace(0.5, 2, math.prod(GRID), dtype=torch.float64)[:, None]
    for scores, same_map in (("cosine", True), ("dot", False)):
        attention = attention_of(scores, "none")
        one, other = (
            recorded(attention, f) for f in (features(), features() * lengths)
        )
        assert torch.allclose(one, other) == same_map


@pytest.mark.parametrize("hierarchical", [False, True])
@pytest.mark.parametrize("name", PLAIN_SIZED)
def test_both_forms_are_one_function(name, hierarchical):
    """Outputs and all gradients, in evaluation mode and with the same dropout masks."""
    model = same.build(name, (8, 12), **SMALL, hierarchical=hierarchical)
    model = same.without_kinks(same.peak(model))
    runs = [same.three(model, same.draw(model, 4, seed)) for seed in range(3)]
    same.assert_as_exact(runs)
    model.train()
    given = same.draw(model, 4)
    positions = math.prod(side // 2 for side in model.image_size)
    with same.fixed_masks(4, SMALL["heads"], positions, 0.1):
        shipped, plain = (
            same.run(model, form, torch.float64, given) for form in ("shipped", "plain")
        )
    for key, value in plain.items():
        torch.testing.assert_close(
            shipped[key], value, msg=lambda text, k=key: k + text
        )


@every_form_of_scores
@torch.no_grad()
def test_dropout_is_drawn_in_training_after_what_is_recorded(scores, values):
    """Each pass its own; probabilities that are drawn in figures are whole."""
    attention = attention_of(scores, values, attention_dropout=0.5).train()
    inputs = features()
    assert not torch.equal(attention(inputs)[0], attention(inputs)[0])
    sums = recorded(attention, inputs).sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))


@pytest.mark.parametrize("name", PLAIN_SIZED)
@torch.no_grad()
def test_mixed_precision_is_near(name):
    """Protects bf16 studies: the fused form takes masks and products of one type."""
    model, images = small_model(name).eval(), torch.randn(2, 3, SIZE, SIZE)
    with torch.autocast("cpu", torch.bfloat16):
        rough = model(images)
    torch.testing.assert_close(rough.float(), model(images), rtol=0, atol=0.05)


# Two linear maps without a non-linearity between are one


def merged_and_separate() -> tuple[nn.Module, nn.Module]:
    with double_precision():
        return small_model("projections-merged"), small_model(BASE)


@torch.no_grad()
def test_merged_maps_start_as_the_product_of_separate_ones():
    """With equal seeds both compute the same at first, one with fewer parameters."""
    merged, separate = (model.eval() for model in merged_and_separate())
    images = torch.randn(3, 3, SIZE, SIZE, dtype=torch.float64)
    torch.testing.assert_close(merged(images), separate(images), rtol=0, atol=1e-12)
    merged.train()
    separate.train()
    with same.fixed_masks(3, SMALL["heads"], 64, 0.1):
        torch.testing.assert_close(merged(images), separate(images), rtol=0, atol=1e-12)
    _assert_spares_one_map(merged, separate)


def _assert_spares_one_map(merged: nn.Module, separate: nn.Module) -> None:
    spared = SMALL["layers"] * SMALL["heads"] * SMALL["width"] ** 2
    assert count_parameters(separate) - count_parameters(merged) == spared


def fold(separate: nn.Module, into: nn.Module) -> None:
    """Give one model the other's function: value and output maps become one."""
    weights = {}
    for name, weight in separate.state_dict().items():
        weights[name.replace(".tables.", ".positions.tables.")] = weight
    for name in [one for one in weights if "values.projection" in one]:
        output = name.replace("projection", "output")
        value = weights.pop(name)
        folded = fold_values_into_output(value, weights[output], SMALL["heads"])
        weights[output] = folded
    into.load_state_dict(weights)


def test_any_trained_value_and_output_maps_fold_into_one():
    """The equivalence behind `no value map`: the same predictions, fewer parameters."""
    merged, separate = merged_and_separate()
    images = torch.randn(4, 3, SIZE, SIZE, dtype=torch.float64)
    optimizer = torch.optim.SGD(separate.parameters(), lr=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        F.nll_loss(separate(images), torch.arange(4)).backward()
        optimizer.step()
    with torch.no_grad():
        outputs = separate.eval()(images)
        assert (merged.eval()(images) - outputs).abs().max() > 0.01
        fold(separate, into=merged)
        torch.testing.assert_close(merged(images), outputs, rtol=0, atol=1e-12)
    _assert_spares_one_map(merged, separate)


# What it costs


@every_variant
def test_parameters_and_operations_equal_the_hand_formulas(name):
    """Protects the columns params and flops, and the plan, which builds no model."""
    model, settings = small_model(name), small_settings(name)
    formula = parameters_by_formula(settings, SIZE, CLASSES)
    assert count_parameters(model) == formula
    assert count_flops(model, SIZE) == flops_by_formula(settings, SIZE, CLASSES)


@pytest.fixture(scope="module")
def full_size() -> dict[str, nn.Module]:
    """The models as their files have them, without memory for their weights."""
    with torch.device("meta"):
        return {name: build_model(name, image_size=FULL_SIZE) for name in VARIANTS}


@every_variant
def test_full_size_parameters_equal_the_hand_formula(name, full_size):
    """Protects the formula, and what is printed beside the report's models."""
    formula = parameters_by_formula(VARIANTS[name].model, FULL_SIZE, 10)
    assert count_parameters(full_size[name]) == formula


def test_the_base_is_as_large_as_the_report_s_model(full_size):
    """Alignment has no parameters: 26,459,754, as published."""
    assert count_parameters(full_size[BASE]) == 26459754


@pytest.mark.parametrize("name", MATCHED)
def test_matched_blocks_are_as_large_as_those_with_all_maps(name, full_size):
    """To one per cent, by their width alone; unmatched ones are smaller by a fifth."""
    base, matched, smaller = (
        full_size[one].encoder.blocks[0]
        for one in (BASE, name, name.removesuffix("-matched"))
    )
    aim = count_parameters(base)
    assert count_parameters(matched) == pytest.approx(aim, rel=0.01)
    assert count_parameters(smaller) < 0.8 * aim
    hidden = VARIANTS[name].model.feed_forward
    assert matched.feed_forward.expand.out_features == hidden
    assert matched.attention.heads == VARIANTS[name].model.heads


def most_bytes(model: nn.Module, images: Tensor) -> int:
    """Bytes of all tensors of a training step at its fullest moment, and momentum."""

    def step() -> None:
        model.zero_grad()
        model(images).sum().backward()

    step()
    tracker = MemTracker()
    tracker.track_external(model)
    with tracker:
        step()
    held = tracker.get_tracker_snapshot("peak")[torch.device("cpu")]["Total"]
    return held + 4 * count_parameters(model)


@pytest.mark.parametrize("name", PLAIN_SIZED)
def test_training_holds_no_more_than_is_estimated(name):
    """Protects the micro-batch, at the size of the study of these variants."""
    sizes = {"patch_size": 4, "width": 32, "feed_forward": 64, "layers": 3}
    model, batch = build_model(name, **sizes).train(), 10
    settings = VARIANTS[name].model.model_copy(update=sizes)
    estimate = estimate_training_memory(settings, FULL_SIZE, 10, batch)
    held = most_bytes(model, torch.randn(batch, 3, FULL_SIZE, FULL_SIZE))
    assert held <= estimate <= 2.5 * held
