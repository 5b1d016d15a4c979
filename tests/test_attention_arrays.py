"""Attention arrays: what is extracted from models, and how it is kept."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from reattn.attention.arrays import load_arrays, meta_of, save_arrays, with_meta
from reattn.attention.extract import extract_attention
from reattn.attention.gathering import gather_gaussians, grid_queries
from reattn.attention.gaussians import centres_and_covariances
from reattn.config import load_variant
from reattn.errors import ReattnError
from reattn.models.build import build_model
from reattn.models.recording import attention_probabilities

MEAN, STD = (0.5, 0.4, 0.3), (0.2, 0.25, 0.3)
QUERIES = [(0, 0), (9, 15)]
SMALL = {"width": 8, "feed_forward": 8, "layers": 2, "heads": 3, "patch_size": 4}
MODELS = {
    "learned2d-9h-content": SMALL,
    "learned2d-9h-nocontent": SMALL,
    "quadratic-9h-anisotropic": SMALL,
    "ha-learned2d-9h-content": SMALL,
    "vit": SMALL | {"stem_width": 4},
    "ha-vit": SMALL | {"stem_width": 4},
    "san-pairwise": {"width": 64, "stages": 2, "blocks": 1},
    "ha-san-patchwise": {"width": 32, "layers": 2},
}
IMAGES = np.random.default_rng(0).integers(0, 256, (2, 3, 16, 16), dtype=np.uint8)


def small_model(variant: str) -> torch.nn.Module:
    torch.manual_seed(1)
    return build_model(variant, image_size=16, **MODELS.get(variant, {}))


def extracted(model: torch.nn.Module, variant: str, **changes) -> dict:
    meta = {
        "study": "test",
        "variant": variant,
        "label": load_variant(variant).label,
        "family": load_variant(variant).model.family,
        "seed": 3,
    }
    arguments = {
        "images": IMAGES,
        "names": ["one", "two"],
        "queries_pixels": QUERIES,
        "mean": MEAN,
        "std": STD,
        "meta": meta,
    }
    return extract_attention(model, **(arguments | changes))


def normalised(images: np.ndarray) -> torch.Tensor:
    channels = [torch.tensor(c)[:, None, None] for c in (MEAN, STD)]
    return (torch.from_numpy(images).float() / 255 - channels[0]) / channels[1]


@pytest.mark.parametrize("variant", ["learned2d-9h-content", "ha-learned2d-9h-content"])
def test_maps_are_the_probabilities_of_the_query_and_their_average(variant):
    """The arrays hold what `attention_probabilities` gives, at the right cells."""
    model = small_model(variant)
    arrays = extracted(model, variant)
    layers = torch.stack(attention_probabilities(model, normalised(IMAGES)), dim=1)
    assert arrays["queries"].tolist() == [[0, 0], [2, 3]]
    expected = torch.stack([layers[:, :, :, 0, 0], layers[:, :, :, 2, 3]], dim=3)
    np.testing.assert_allclose(arrays["query_maps"], expected.numpy(), atol=1e-6)
    average = layers.mean((3, 4)).numpy()
    np.testing.assert_allclose(arrays["average_maps"], average, atol=1e-6)
    assert (arrays["images"] == IMAGES.transpose(0, 2, 3, 1)).all()


@pytest.mark.parametrize("variant", MODELS)
def test_attention_adds_up_to_one(variant):
    """Maps, with what the class token takes, are whole distributions."""
    arrays = extracted(small_model(variant), variant)
    meta = meta_of(arrays)
    if meta["kind"] == "local":
        sums = [arrays[f"query_weights_{n}"].sum((-1, -2)) for n in (0, 1)]
        whole = all(np.allclose(total, 1, atol=1e-5) for total in sums)
        assert whole == meta["normalised"] == ("pairwise" in variant)
        return
    taken = arrays.get("class_mass", 0)
    np.testing.assert_allclose(arrays["query_maps"].sum((-1, -2)) + taken, 1, atol=1e-5)
    taken = arrays.get("average_class_mass", 0)
    np.testing.assert_allclose(
        arrays["average_maps"].sum((-1, -2)) + taken, 1, atol=1e-5
    )
    assert ("class_mass" in arrays) == ("vit" in variant)


@pytest.mark.parametrize("variant", ["san-pairwise", "ha-san-patchwise"])
def test_local_weights_are_those_at_the_query_in_each_call(variant):
    """A query pixel is found in the smaller maps of later calls."""
    model = small_model(variant)
    arrays = extracted(model, variant)
    calls = attention_probabilities(model, normalised(IMAGES))
    assert len(calls) == len(arrays["map_sizes"])
    for number, call in enumerate(calls):
        row, column = (np.array(QUERIES[1]) * call.shape[2] // 16).tolist()
        expected = call[:, :, row, column].numpy()
        found = arrays[f"query_weights_{number}"][:, :, 1]
        np.testing.assert_allclose(found, expected, atol=1e-5)
        average = arrays[f"average_weights_{number}"]
        np.testing.assert_allclose(average, call.mean((2, 3)).numpy(), atol=1e-5)


@pytest.mark.parametrize("variant", MODELS)
def test_content_free_attention_is_kept_once(variant):
    """Attention that no image changes is recognised, and only that."""
    arrays = extracted(small_model(variant), variant)
    independent = "nocontent" in variant or "quadratic" in variant
    assert meta_of(arrays)["image_independent"] == independent
    assert len(arrays["images"]) == (1 if independent else 2)


@pytest.mark.parametrize("variant", ["vit", "san-pairwise"])
def test_looking_leaves_no_trace_and_repeats(variant):
    """Modes, buffers and torch's stream stay; two looks are equal bit for bit."""
    model = small_model(variant).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    first = extracted(model, variant)
    torch.rand(1)
    stream = torch.get_rng_state()
    second = extracted(model, variant)
    assert torch.equal(stream, torch.get_rng_state())
    assert all(module.training for module in model.modules())
    assert all(torch.equal(before[n], v) for n, v in model.state_dict().items())
    assert all((first[name] == second[name]).all() for name in first)


def test_a_model_without_attention_says_so():
    """ResNet18 gives a reason, not an error and not an empty figure."""
    arrays = extracted(build_model("resnet18", width=8), "resnet18")
    meta = meta_of(arrays)
    assert meta["kind"] == "none"
    assert "ResNet18" in meta["reason"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"queries_pixels": [(16, 0)]}, r"\(16, 0\)"),
        ({"names": ["one"]}, "1 names"),
        ({"images": IMAGES.astype(np.float32)}, "uint8"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(changes, words):
    """A query outside the image or a missing name is told, not drawn wrongly."""
    variant = "quadratic-9h-anisotropic"
    with pytest.raises(ReattnError, match=words):
        extracted(small_model(variant), variant, **changes)


@pytest.mark.parametrize("form", ["authors", "corrected"])
@pytest.mark.parametrize(
    "variant", ["quadratic-9h-isotropic", "quadratic-9h-anisotropic"]
)
def test_gaussians_are_those_that_the_model_attends_with(variant, form):
    """Centre and covariance reproduce the recorded map, deviation D2 included."""
    torch.manual_seed(2)
    settings_ = SMALL | {"gaussian_centre": form}
    model = build_model(variant, image_size=(16, 24), **settings_).double()
    for block in model.encoder.blocks:
        spreads = block.attention.spreads
        torch.nn.init.normal_(spreads, std=0.3)
        spreads.data += torch.eye(2) if spreads.dim() == 3 else 0.8
    gaussians = gather_gaussians(model)
    images = torch.zeros(1, 3, 16, 24, dtype=torch.float64)
    for layer, maps in enumerate(attention_probabilities(model, images)):
        for head in range(SMALL["heads"]):
            center = gaussians["centers"][layer, head]
            precision = np.linalg.inv(gaussians["covariances"][layer, head])
            offsets = np.stack(np.mgrid[-1:3, -2:4], axis=-1) - center
            scores = -np.einsum("hwi,ij,hwj->hw", offsets, precision, offsets) / 2
            expected = np.exp(scores - scores.max())
            found = maps[0, head, 1, 2].numpy()
            np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-5)


def test_one_quadratic_block_in_all_layers_is_told_of_once_a_layer():
    """A hierarchical quadratic model has a panel for every pass."""
    overrides = SMALL | {"hierarchical": True, "layers": 3}
    model = build_model("quadratic-9h-isotropic", image_size=16, **overrides)
    assert gather_gaussians(model)["centers"].shape == (3, 3, 2)


@given(
    st.floats(-9, 9),
    st.floats(-9, 9),
    st.floats(0.1, 3),
    st.floats(0.1, 3),
    st.floats(-0.9, 0.9),
)
def test_a_quadratic_form_gives_back_its_gaussian(row, column, first, second, shear):
    """For the equation's own target vector, centre and precision are recovered."""
    a, c = first**2, second**2
    b = shear * first * second
    target = [a * row + b * column, c * column + b * row, -a / 2, -c / 2, -b]
    centre, covariance = centres_and_covariances(np.array(target))
    np.testing.assert_allclose(centre, [row, column], atol=1e-6)
    precision = np.array([[a, b], [b, c]])
    np.testing.assert_allclose(covariance @ precision, np.eye(2), atol=1e-6)


@pytest.mark.parametrize("target", [[0, 0, 0, 0, 0], [1, 1, 0.5, -1, 0]])
def test_a_form_without_a_peak_has_no_centre(target):
    """A flat or rising form gives NaN, never an invented centre."""
    centre, covariance = centres_and_covariances(np.array(target, dtype=float))
    assert np.isnan(centre).all()
    assert np.isnan(covariance).all()


@given(st.integers(1, 64), st.integers(1, 16), st.data())
def test_query_cells_are_those_that_hold_the_pixel(grid, patch, data):
    """The cell of a pixel is the patch that it lies in."""
    side = grid * patch
    pixel = data.draw(st.integers(0, side - 1))
    cell = grid_queries(np.array([[pixel, 0]]), (side, side), (grid, grid))
    assert cell.tolist() == [[pixel // patch, 0]]


@settings(max_examples=20)
@given(st.lists(st.integers(0, 5), max_size=4), st.text(max_size=9))
def test_arrays_come_back_as_they_were(tmp_path_factory, shape, label):
    """Values, types and texts survive; equal arrays give equal bytes."""
    folder = tmp_path_factory.mktemp("arrays")
    maps = np.random.default_rng(0).random(shape).astype(np.float32)
    arrays = with_meta({"maps": maps}, {"kind": "none", "label": label})
    for name in ("a.npz", "b.npz"):
        save_arrays(folder / name, arrays)
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()
    loaded = load_arrays(folder / "a.npz")
    assert loaded["maps"].dtype == np.float32
    np.testing.assert_array_equal(loaded["maps"], maps)
    assert meta_of(loaded)["label"] == label


def test_pickles_are_neither_written_nor_read(tmp_path):
    """Reading a file of arrays never runs code that came with it."""
    objects = np.array([{"code": 1}], dtype=object)
    with pytest.raises(ReattnError, match="objects"):
        save_arrays(tmp_path / "a.npz", {"maps": objects})
    np.savez(tmp_path / "b.npz", maps=objects, meta=np.array('{"kind": "none"}'))
    with pytest.raises(ReattnError, match=r"b\.npz"):
        load_arrays(tmp_path / "b.npz")


def test_unusable_files_are_named(tmp_path):
    """A missing, torn or foreign file is told by name."""
    with pytest.raises(ReattnError, match=r"none\.npz is missing"):
        load_arrays(tmp_path / "none.npz")
    whole = tmp_path / "whole.npz"
    save_arrays(whole, with_meta({"maps": np.ones(999)}, {"kind": "global"}))
    torn = tmp_path / "torn.npz"
    torn.write_bytes(whole.read_bytes()[:-40])
    with pytest.raises(ReattnError, match=r"torn\.npz"):
        load_arrays(torn)
    foreign = tmp_path / "foreign.npz"
    np.savez(foreign, maps=np.ones(3))
    with pytest.raises(ReattnError, match=r"foreign\.npz.*meta"):
        load_arrays(foreign)
