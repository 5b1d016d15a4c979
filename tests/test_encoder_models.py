"""The transformer encoders compute what the report and its code say."""

import math

import pytest
import torch

from reattn.errors import ConfigError, ReattnError
from reattn.models.build import build_model
from reattn.models.dropout import one_dropout_mask, scaled_mask
from reattn.models.forms import set_form
from reattn.models.recording import attention_probabilities

PARAMETERS = {
    "learned2d-9h-content": 28_478_682,
    "learned2d-9h-nocontent": 11_316_390,
    "learned2d-16h-content": 26_459_754,
    "learned2d-16h-nocontent": 13_973_802,
    "quadratic-9h-isotropic": 11_124_444,
    "quadratic-9h-anisotropic": 11_124_606,
    "quadratic-16h-anisotropic": 7_538_346,
    "vit": 37_394_506,
    "ha-learned2d-9h-content": 4_754_122,
    "ha-learned2d-16h-content": 4_414_874,
    "ha-vit": 6_531_946,
}
LOG_PROBABILITIES = [name for name in PARAMETERS if "vit" not in name]
ALIGNED_OR_FREE = [name for name in PARAMETERS if "-content" not in name]
SMALL = {"width": 8, "feed_forward": 10, "heads": 3, "layers": 2}


@pytest.fixture(autouse=True)
def _float64():
    """Double precision, so that equality means equality."""
    torch.manual_seed(0)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def small(name, image_size=8, **overrides):
    if "vit" in name:
        overrides = {"stem_width": 4} | overrides
    settings = SMALL | overrides
    return build_model(name, image_size=image_size, num_classes=5, **settings)


def image_batch(batch, height=8, width=None):
    return torch.randn(batch, 3, height, width or height)


def token_of(model, name, batch):
    """Keyword arguments that make a ViT deterministic."""
    if "vit" not in name:
        return {}
    return {"class_token": torch.rand(batch, model.patches.token_features, 1)}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameter_counts(name):
    """The full-size models have exactly the parameters of the authors' code."""
    with torch.device("meta"):
        model = build_model(name)
    assert sum(each.numel() for each in model.parameters()) == PARAMETERS[name]


def test_unknown_form_is_refused():
    """A misspelt form does not silently stay shipped."""
    with pytest.raises(ReattnError, match="'plain'"):
        set_form(small("vit"), "fast")


@pytest.mark.parametrize("name", PARAMETERS)
def test_permuted_batch_gives_permuted_outputs(name):
    """No image of a batch sees another one."""
    model = small(name).eval()
    images, token = image_batch(4), token_of(model, name, 4)
    order = torch.tensor([2, 0, 3, 1])
    permuted = {key: value[order] for key, value in token.items()}
    torch.testing.assert_close(
        model(images[order], **permuted), model(images, **token)[order]
    )


@pytest.mark.parametrize("name", LOG_PROBABILITIES)
def test_outputs_are_log_probabilities(name):
    """These families return what the authors' do, log-probabilities."""
    total = small(name)(image_batch(2)).exp().sum(dim=1)
    torch.testing.assert_close(total, torch.ones(2))


@pytest.mark.parametrize("name", ALIGNED_OR_FREE)
def test_maps_need_not_be_square(name):
    """Only D1's authors' form assumes a square map."""
    assert small(name, (8, 12))(image_batch(2, 8, 12)).shape == (2, 5)


def test_authors_alignment_refuses_a_map_that_is_not_square():
    """One sentence says what is wrong and what to do."""
    with pytest.raises(ConfigError, match="square") as refusal:
        small("learned2d-9h-content", (8, 12))
    assert len(refusal.value.problems) == 1
    model = small("learned2d-9h-content", (8, 12), content_alignment="aligned")
    assert model(image_batch(1, 8, 12)).shape == (1, 5)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"colour": 3}, "attention_dropout"),
        ({"heads": 0}, "heads"),
        ({"patch_size": 3}, "patch_size"),
        ({"family": "vit"}, "family"),
        ({"width": 7}, "even"),
    ],
)
def test_impossible_settings_are_named(overrides, words):
    """An override that cannot be is refused by name before anything is built."""
    with pytest.raises(ConfigError, match=words):
        build_model("learned2d-9h-content", image_size=8, **overrides)


def test_images_in_another_memory_layout():
    """Channels-last images give the same outputs."""
    model, images = small("quadratic-9h-isotropic").eval(), image_batch(2)
    other = images.contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(model(other), model(images))


# Patches ---------------------------------------------------------------------


def test_order_of_the_values_in_a_patch():
    """Row, column, colour, as in the authors' space-to-depth."""
    model, image = small("quadratic-9h-isotropic"), image_batch(1)
    values = [
        image[0, colour, 2 * 1 + dy, 2 * 3 + dx]
        for dy in range(2)
        for dx in range(2)
        for colour in range(3)
    ]
    expected = model.patches.projection(torch.stack(values))
    torch.testing.assert_close(model.patches(image)[0, 1 * 4 + 3], expected)


# Learned 2D ------------------------------------------------------------------


def reference_content_attention(module, features, size, transposed):
    """The content equations, one number at a time.

    features: (batch, size * size, width). Returns probabilities and outputs.
    """
    heads, width, half = module.heads, module.width, module.width // 2
    shape = (len(features), heads, size, size, size, size)
    probabilities = torch.zeros(shape)
    query = module.query.weight.view(heads, width, width)
    key = module.key.weight.view(heads, width, width)
    row, column = module.tables.row.weight, module.tables.column.weight

    def at(image, i, j):
        return features[image, (j * size + i) if transposed else (i * size + j)]

    for image, h, i, j in torch.cartesian_prod(*map(torch.arange, shape[:4])).tolist():
        scores = torch.zeros(size, size)
        q = query[h] @ at(image, i, j)
        for k in range(size):
            for m in range(size):
                content = q @ (key[h] @ at(image, k, m))
                along_row = q[:half] @ row[m - j + size - 1]
                along_column = q[half:] @ column[k - i + size - 1]
                total = content + along_row + along_column
                scores[k, m] = total / math.sqrt(width)
        exponentials = scores.exp()
        probabilities[image, h, i, j] = exponentials / exponentials.sum()
    return probabilities, reference_outputs(module, probabilities, features)


def reference_outputs(module, probabilities, features):
    """Values gathered head by head, then the output map, one position at a time."""
    batch, heads = probabilities.shape[:2]
    positions, width = features.shape[1:]
    projection = module.values.projection
    outputs = torch.zeros(batch, positions, width)
    for image in range(batch):
        for q in range(positions):
            contexts = []
            for h in range(heads):
                weights = probabilities[image, h].reshape(positions, positions)[q]
                for_head = features[image]
                if projection is not None:
                    weight = projection.weight[h * width : (h + 1) * width]
                    for_head = features[image] @ weight.T
                contexts.append(sum(weights[k] * for_head[k] for k in range(positions)))
            outputs[image, q] = module.values.output(torch.cat(contexts))
    return outputs


@pytest.mark.parametrize("alignment", ["authors", "aligned"])
@pytest.mark.parametrize("name", ["learned2d-9h-content", "learned2d-16h-content"])
def test_content_attention_follows_the_equations(name, alignment):
    """Both alignments and both value paths agree with loops over single numbers."""
    model = small(name, 6, width=4, heads=2, content_alignment=alignment).eval()
    module, features = model.encoder.blocks[0].attention, torch.randn(2, 9, 4)
    with torch.no_grad():
        _, expected = reference_content_attention(
            module, features, 3, alignment == "authors"
        )
        outputs, _ = module(features)
    torch.testing.assert_close(outputs, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("alignment", ["authors", "aligned"])
def test_recorded_content_probabilities_follow_the_equations(alignment):
    """What is drawn in figures is what the loops over single numbers give."""
    model = small(
        "learned2d-9h-content", 6, width=4, heads=2, content_alignment=alignment
    )
    images = image_batch(2, 6)
    with torch.no_grad():
        expected, _ = reference_content_attention(
            model.encoder.blocks[0].attention,
            model.patches(images),
            3,
            alignment == "authors",
        )
    recorded = attention_probabilities(model, images)[0]
    torch.testing.assert_close(recorded, expected, rtol=1e-10, atol=1e-10)


def two_alignments():
    """One set of weights without offsets, read in both ways."""
    authors = small("learned2d-9h-content", layers=1)
    for table in authors.encoder.blocks[0].attention.tables.parameters():
        torch.nn.init.zeros_(table)
    aligned = small("learned2d-9h-content", layers=1, content_alignment="aligned")
    aligned.load_state_dict(authors.state_dict())
    return authors, aligned


def test_authors_content_scores_are_those_of_the_transposed_positions():
    """D1: content at (i, j), (k, l) is that of (j, i), (l, k), for each image, head."""
    authors, aligned = two_alignments()
    images = image_batch(2)
    theirs = attention_probabilities(authors, images)[0]
    ours = attention_probabilities(aligned, images)[0]
    torch.testing.assert_close(theirs, ours.permute(0, 1, 3, 2, 5, 4))
    assert not torch.allclose(theirs, ours)


def test_marked_pixel_shows_where_content_is_read():
    """D1: content of the patch (1, 3) counts at (3, 1) in the authors' form."""
    image = torch.zeros(1, 3, 8, 8)
    image[:, :, 2:4, 6:8] = 9.0
    for model, marked in zip(two_alignments(), [(3, 1), (1, 3)], strict=True):
        torch.nn.init.zeros_(model.patches.projection.bias)
        attention = model.encoder.blocks[0].attention
        attention.key.load_state_dict(attention.query.state_dict())
        probabilities = attention_probabilities(model, image)[0][0, 0]
        strongest = torch.unravel_index(probabilities.argmax(), probabilities.shape)
        assert tuple(map(int, strongest)) == marked * 2


def test_content_free_scores_use_columns_and_rows():
    """score = u . row[l - j] + v . column[k - i], not scaled."""
    module = small("learned2d-9h-nocontent", (6, 8)).encoder.blocks[0].attention
    (h, i, j, k, m), scores = (1, 2, 0, 1, 3), module.scores()
    of_columns = module.row_keys(module.tables.row.weight[m - j + 3])[h]
    of_rows = module.column_keys(module.tables.column.weight[k - i + 2])[h]
    torch.testing.assert_close(scores[h, i, j, k, m], of_columns + of_rows)


# Quadratic -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["quadratic-9h-isotropic", "quadratic-9h-anisotropic"])
def test_corrected_quadratic_attention_is_a_gaussian_of_its_parameters(name):
    """softmax(scores) = softmax(-(d - mu)^T A (d - mu) / 2), offset by offset."""
    model = small(name, (4, 6), gaussian_centre="corrected")
    module = model.encoder.blocks[0].attention
    torch.nn.init.normal_(module.spreads)
    recorded = attention_probabilities(model, image_batch(1, 4, 6))[0][0]
    expected = torch.zeros(3, 2, 3, 2, 3)
    for h, i, j, k, m in torch.cartesian_prod(
        *map(torch.arange, expected.shape)
    ).tolist():
        difference = torch.tensor([k - i, m - j]) - module.centres[h]
        spread = module.spreads[h]
        precision = spread**2 * torch.eye(2) if spread.dim() == 0 else spread @ spread.T
        expected[h, i, j, k, m] = -difference @ precision @ difference / 2
    expected = expected.flatten(3).softmax(-1).view_as(expected)
    torch.testing.assert_close(recorded, expected.detach())


@pytest.mark.parametrize("name", ["quadratic-9h-isotropic", "quadratic-9h-anisotropic"])
def test_authors_quadratic_scores_follow_their_target_vector(name):
    """D2: t has c + mu2 where c * mu2 belongs; r is as written, number by number."""
    module = small(name, (4, 6)).encoder.blocks[0].attention
    torch.nn.init.normal_(module.spreads)
    scores = module.scores()
    for h, i, j, k, m in torch.cartesian_prod(
        *map(torch.arange, scores.shape)
    ).tolist():
        (a, b), (_, c) = module.precisions()[h]
        mu1, mu2 = module.centres[h]
        d1, d2 = k - i, m - j
        target = [-2 * (a * mu1 + b * mu2), -2 * (c + mu2 + b * mu1), a, c, 2 * b]
        offset = [d1, d2, d1**2, d2**2, d1 * d2]
        score = sum(-t / 2 * r for t, r in zip(target, offset, strict=True))
        torch.testing.assert_close(scores[h, i, j, k, m], score)


def test_centre_that_the_authors_form_attends_to():
    """D2: it solves A x = (a mu1 + b mu2, c + mu2 + b mu1)."""
    module = small("quadratic-9h-anisotropic").encoder.blocks[0].attention
    torch.nn.init.normal_(module.spreads)
    precisions, (mu1, mu2) = module.precisions(), module.centres.unbind(1)
    a, b, c = precisions[:, 0, 0], precisions[:, 0, 1], precisions[:, 1, 1]
    right = torch.stack([a * mu1 + b * mu2, c + mu2 + b * mu1], dim=1)
    centre = torch.linalg.solve(precisions, right).detach().requires_grad_()
    d1, d2 = centre.unbind(1)
    offset = torch.stack([d1, d2, d1**2, d2**2, d1 * d2], dim=1)
    (module.targets().detach() * offset).sum().backward()
    torch.testing.assert_close(centre.grad, torch.zeros_like(centre))


def test_centres_and_spreads_start_as_published():
    """Centres from N(0, 2^2), spreads 1 or I with a deviation of 0.01."""
    for isotropic in (True, False):
        model = small("quadratic-9h-isotropic", heads=4000, isotropic=isotropic)
        module = model.encoder.blocks[0].attention
        mean = torch.ones(()) if isotropic else torch.eye(2)
        assert module.centres.std().item() == pytest.approx(2, rel=0.05)
        assert (module.spreads - mean).std().item() == pytest.approx(0.01, rel=0.1)


# Hierarchical ----------------------------------------------------------------

HIERARCHICAL = ["ha-learned2d-9h-content", "ha-learned2d-16h-content", "ha-vit"]


@pytest.mark.parametrize("name", HIERARCHICAL)
def test_hierarchical_parameters_do_not_depend_on_layers(name):
    """One block serves all passes."""
    counts = {
        sum(each.numel() for each in small(name, layers=layers).parameters())
        for layers in (1, 2, 5)
    }
    assert len(counts) == 1


@pytest.mark.parametrize("name", HIERARCHICAL)
def test_hierarchical_keys_are_made_once(name):
    """Queries are made in every pass, keys in the first alone."""
    model = set_form(small(name, layers=4), "plain")
    calls = {"query": 0, "key": 0}

    def count(kind):
        def hook(*_):
            calls[kind] += 1

        return hook

    attention = model.encoder.blocks[0].attention
    attention.query.register_forward_hook(count("query"))
    attention.key.register_forward_hook(count("key"))
    model(image_batch(2))
    assert calls == {"query": 4, "key": 1}


# ViT -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vit", "ha-vit"])
def test_class_token_takes_exactly_one_draw(name):
    """As in the authors' code: one uniform draw (batch, features, 1), in evaluation."""
    model, images = small(name).eval(), image_batch(2)
    torch.manual_seed(7)
    drawn = model(images)
    after = torch.get_rng_state()
    torch.manual_seed(7)
    token = torch.rand(2, model.patches.token_features, 1)
    assert torch.equal(torch.get_rng_state(), after)
    torch.testing.assert_close(model(images, class_token=token), drawn)
    assert torch.equal(torch.get_rng_state(), after)


def test_class_token_from_a_generator_leaves_the_global_stream():
    """A seeded evaluation repeats and disturbs no training."""
    model, images = small("vit").eval(), image_batch(2)
    before = torch.get_rng_state()
    first, second, other = (
        model(images, generator=torch.Generator().manual_seed(seed))
        for seed in (1, 1, 2)
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first, second)
    assert not torch.allclose(first, other)


def test_class_token_of_another_shape_is_refused():
    """The message gives the shape that fits."""
    with pytest.raises(ReattnError, match=r"\(2, 16, 1\)"):
        small("vit")(image_batch(2), class_token=torch.rand(2, 16))


def test_learned_class_token_draws_nothing():
    """D7, put right: a parameter instead of noise."""
    model, images = small("vit", class_token="learned").eval(), image_batch(2)
    before = torch.get_rng_state()
    outputs = model(images)
    assert torch.equal(torch.get_rng_state(), before)
    outputs.sum().backward()
    assert model.patches.token.grad.abs().sum() > 0


@pytest.mark.parametrize("residual", ["authors", "input"])
def test_residual_of_vit(residual):
    """D8: with a silent attention the block keeps LN(x), or else x."""
    block = small("vit", residual=residual).encoder.blocks[0]
    for silent in (block.attention.values.output, block.feed_forward.contract):
        torch.nn.init.zeros_(silent.weight)
        torch.nn.init.zeros_(silent.bias)
    features = 3 * torch.randn(2, 17, 8) + 1
    kept, _ = block(features)
    normalised = torch.nn.functional.layer_norm(
        torch.nn.functional.layer_norm(features, (8,)), (8,)
    )
    expected = normalised if residual == "authors" else features
    torch.testing.assert_close(kept, expected)


# Dropout ---------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(101, 997), (3,)])
def test_mask_has_the_fraction_and_keeps_the_mean(shape):
    """Zeros as often as asked, and the rest scaled so that the mean stays."""
    mask = scaled_mask(torch.empty(shape), 0.3)
    kept = mask[mask > 0]
    fraction = round(0.3 * 2**16) / 2**16  # the nearest that 16 random bits give
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - fraction)))
    if mask.numel() > 1000:
        zeros = (mask == 0).double()
        assert zeros.mean().item() == pytest.approx(0.3, abs=0.01)
        together = (zeros[:, ::2][:, :498] * zeros[:, 1::2]).mean().item()
        assert together == pytest.approx(0.09, abs=0.01)


@pytest.mark.parametrize("form", ["plain", "shipped"])
@pytest.mark.parametrize(
    ("name", "shared"),
    [
        ("learned2d-9h-content", False),
        ("learned2d-9h-nocontent", False),
        ("quadratic-9h-isotropic", True),
    ],
)
def test_which_images_share_a_dropout_mask(name, shared, form):
    """The quadratic models have one mask for a batch, the others one an image."""
    model = set_form(small(name, attention_dropout=0.5), form).train()
    outputs = model(image_batch(1).expand(4, -1, -1, -1))
    assert torch.allclose(outputs, outputs[:1].expand(4, -1)) == shared


@pytest.mark.parametrize("name", ["learned2d-9h-content", "learned2d-9h-nocontent"])
@pytest.mark.parametrize("form", ["plain", "shipped"])
def test_dropout_keeps_the_expectation(name, form):
    """The mean of an attention layer's outputs over many masks is its output."""
    model = set_form(small(name, attention_dropout=0.3, layers=1), form)
    attention, features = model.encoder.blocks[0].attention, torch.randn(1, 16, 8)
    repeated = features.expand(4000, -1, -1)
    with torch.no_grad():
        mean = attention.train()(repeated)[0].mean(dim=0)
        expected = attention.eval()(features)[0][0]
    torch.testing.assert_close(mean, expected, atol=0.03, rtol=0)


@pytest.mark.parametrize("hierarchical", [False, True])
def test_one_mask_for_all_micro_batches(hierarchical):
    """Within the context two halves give what the whole gives; afterwards not."""
    model = small(
        "quadratic-9h-isotropic", attention_dropout=0.5, hierarchical=hierarchical
    ).train()
    images = image_batch(4)

    def halves():
        return torch.cat([model(images[:1]), model(images[1:])])

    with one_dropout_mask(model):
        whole = model(images)
        torch.testing.assert_close(halves(), whole)
    assert not torch.allclose(halves(), whole)
    with one_dropout_mask(model):
        assert not torch.allclose(model(images), whole)


def test_passes_of_a_hierarchical_model_have_masks_of_their_own():
    """Holding masks does not make the passes share one."""
    model = small(
        "quadratic-9h-isotropic", attention_dropout=0.5, hierarchical=True
    ).train()
    dropout = model.encoder.blocks[0].attention.dropout
    with one_dropout_mask(model):
        first, second, again = (dropout(torch.ones(3, 16, 16)) for _ in range(3))
    assert not torch.equal(first, second)
    assert torch.equal(first, again)


def test_the_blocks_of_the_vit_stem_start_as_resnet18_does():
    """The authors take them out of that network; golden outputs cannot tell."""
    torch.manual_seed(0)
    stem = build_model("vit").patches.stem
    convolutions = [m for m in stem[3].modules() if isinstance(m, torch.nn.Conv2d)]
    assert len(convolutions) == 4
    for convolution in convolutions:
        expected = (2 / (64 * 9)) ** 0.5
        assert convolution.weight.std().item() == pytest.approx(expected, rel=0.02)
    first = stem[0].weight
    assert first.std().item() == pytest.approx((1 / 27 / 3) ** 0.5, rel=0.1)
