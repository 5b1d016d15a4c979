"""The explorer's data: how exact it is, and what a page with a limit leaves out."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from explorer_study import (
    IMAGES,
    NAME,
    NAMES,
    SETTINGS,
    arrays_of,
    embedded,
    embedded_pack,
    pack,
    page_of,
    recorded,
    small_model,
    small_study,
    unfold,
    weights_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as any_arrays

from reattn.attention.arrays import save_arrays
from reattn.attention.every_query import probabilities_by_shift, shift_scores
from reattn.config.explored import explored_pairs, is_explored
from reattn.config.loading import load_variants
from reattn.errors import ReattnError
from reattn.explorer.choosing import Choice, choose, size_of
from reattn.explorer.scales import (
    FOR_ALL_IMAGES,
    FOR_THE_FIRST,
    from_levels,
    in_levels,
    largest_fault,
)
from reattn.explorer.study import pack_variants
from reattn.figures.style import DIVERGING, SEQUENTIAL
from reattn.files import read_json
from reattn.report.explorer import PLACE, has_packs

LEVELS = (*FOR_ALL_IMAGES, *FOR_THE_FIRST)


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> tuple[Path, dict]:
    """Everything packed once; a test that breaks something packs its own."""
    results = tmp_path_factory.mktemp("results") / NAME
    return results, pack(results)


def entry_of(index: dict, name: str) -> dict:
    return next(entry for entry in index["variants"] if entry["id"] == name)


@given(any_arrays(np.float32, (2, 5), elements=st.floats(0, 1, width=32)))
@settings(max_examples=50, deadline=None)
def test_levels_keep_to_the_stated_fault(weights: np.ndarray):
    """Square-root levels are never off by more than the bound in their docstring."""
    for highest in LEVELS:
        largest, levels = in_levels(weights, (1,), highest)
        found = from_levels(largest, levels, highest)
        share = weights / np.where(largest > 0, largest, 1)
        bound = largest * (np.sqrt(share) / highest + 1 / (4 * highest**2)) + 1e-6
        assert (np.abs(found - weights) <= bound).all()
        assert (np.abs(found - weights) <= largest * largest_fault(highest)).all()


@given(any_arrays(np.float32, (2, 9), elements=st.floats(-8, 8, width=32)))
@settings(max_examples=50, deadline=None)
def test_signed_levels_keep_to_the_stated_fault(weights: np.ndarray):
    """Weights without a softmax, zero staying zero."""
    for highest in LEVELS:
        largest, levels = in_levels(weights, (1,), highest, signed=True)
        found = from_levels(largest, levels, highest, signed=True)
        bound = largest * largest_fault(highest, signed=True)
        assert (np.abs(found - weights) <= bound + 1e-30).all()
        assert (found[weights == 0] == 0).all()


@pytest.mark.parametrize("variant", SETTINGS)
def test_packs_unfold_to_what_was_recorded(packed, variant: str):
    """Every query of every layer, head and image, within the fault that is stated."""
    results, index = packed
    entry = entry_of(index, variant)
    for one in entry["packs"]:
        content = (results / "explorer" / one["file"]).read_bytes()
        found = unfold(content, entry, one["levels"])
        calls = recorded(variant, one["image"] or 0)
        for layer, exact in zip(found, calls, strict=True):
            largest = exact if one["levels"] is None else _largest(exact)
            # What was recorded is itself in single precision.
            assert (np.abs(layer - exact) <= one["fault"] * largest + 2e-7).all()


def _largest(weights: np.ndarray) -> np.ndarray:
    return np.abs(weights).max((1, 2, 3, 4), keepdims=True)


@pytest.mark.parametrize(
    "variant", ["learned2d-9h-nocontent", "quadratic-9h-anisotropic"]
)
def test_content_free_heads_are_a_table_for_any_image(packed, variant: str):
    """One small pack; borders are renormalised over the keys that are inside."""
    entry = entry_of(packed[1], variant)
    assert entry["form"] == "table"
    assert [one["image"] for one in entry["packs"]] == [None]
    assert entry["packs"][0]["fault"] < 1e-4
    found = probabilities_by_shift(shift_scores(small_model(variant)))
    for image in range(len(IMAGES)):
        corner = weights_of(variant, image, 0)
        np.testing.assert_allclose(found[:, :, 0, 0], corner, rtol=1e-4, atol=1e-7)
        np.testing.assert_allclose(found[:, :, 0, 0].sum((-2, -1)), 1)


def test_content_is_no_table():
    """Scores that an image changes cannot be told by shift."""
    assert shift_scores(small_model("learned2d-9h-content")) is None
    assert "all_maps" in arrays_of("learned2d-9h-content")


def test_every_query_averages_to_the_average_of_the_figures():
    """The explorer and the figures show the same attention."""
    arrays = arrays_of("vit")
    averages = arrays["all_maps"].astype(float).mean((3, 4))
    np.testing.assert_allclose(averages, arrays["average_maps"], atol=2e-4)
    tokens = arrays["all_class_mass"].astype(float).mean((3, 4))
    np.testing.assert_allclose(tokens, arrays["average_class_mass"], atol=5e-4)


def test_figures_need_no_every_query():
    """Arrays without it stay what they were; variants outside do not keep it."""
    arrays = arrays_of("vit", every_query=False)
    assert not {"all_maps", "all_class_mass"} & set(arrays)
    known = load_variants()
    assert not is_explored(known["projections-tied"])
    assert not is_explored(known["vit-token"])
    assert is_explored(known["learned2d-9h-content-aligned"])


def test_pairs_are_ordinary_and_hierarchical_then_authors_and_aligned(packed):
    """What a reader compares first is offered first."""
    content = "learned2d-9h-content"
    pairs = [("hierarchical", content, f"ha-{content}")]
    pairs.append(("aligned", content, f"{content}-aligned"))
    assert explored_pairs(small_study()[1]) == pairs
    assert [tuple(pair.values()) for pair in packed[1]["pairs"]] == pairs


INDEX = 'id="explorer-index"'


def test_images_are_left_out_before_variants(packed):
    """Less and less room: coarser, fewer images, coarsest, fewer variants, none."""
    _, index = packed
    whole = size_of(index, Choice(FOR_ALL_IMAGES[0], 9, 99))
    rooms = range(whole, -1, -200)

    def best(room: int) -> Choice:
        return choose(index, lambda choice: size_of(index, choice) <= room)

    choices = [best(room) for room in rooms]
    orders = [(-c.variants, -c.images, -c.levels) for c in choices]
    assert orders == sorted(orders)
    assert choices[0] == Choice(255, 2, len(SETTINGS))
    assert choices[-1] == Choice(15, 1, 0)
    assert {c.images for c in choices if c.variants == len(SETTINGS)} == {1, 2}
    for room, choice in zip(rooms, choices, strict=True):
        assert size_of(index, choice) <= room or choice.variants == 0


def test_a_page_keeps_to_its_limit_and_says_what_is_left_out(packed):
    """The limit is of the whole page; names of what is missing stand in it."""
    results, _ = packed
    whole, least = (len(page_of(results, limit).encode()) for limit in (9, 1e-3))
    left_out = []
    for limit in range(whole, least, -1_500):
        page = page_of(results, limit / 1e6)
        assert len(page.encode()) <= limit
        if INDEX not in page:
            break
        omitted = embedded(page)["omitted"]
        assert omitted["megabytes"] == limit / 1e6
        left_out.append((bool(omitted["images"]), bool(omitted["variants"])))
    assert left_out == sorted(left_out)
    assert set(left_out) == {(False, False), (True, False), (True, True)}


def test_a_page_without_room_for_one_model_says_so_in_its_place(packed):
    """No empty tool: what the page may take, what it takes, and what to do."""
    results, _ = packed
    page = page_of(results, 0.001)
    assert PLACE not in page
    assert INDEX not in page
    notice = re.search(r'<div class="absent">(.*?)</div>', page)[1]
    assert "the page may take 0.001 MB" in notice
    assert f"config/studies/{NAME}.yaml" in notice
    assert "page_megabytes" in notice


def test_a_page_holds_the_packs_and_nothing_ends_its_index(packed):
    """Bytes as they were packed; names with markup are harmless."""
    results, index = packed
    page = page_of(results)
    contents = embedded(page)
    assert [image["name"] for image in contents["images"]] == list(NAMES)
    assert contents["images"][0]["credit"].endswith("CC BY 2.0.")
    assert contents["absent"][0]["label"] == "ResNet18"
    picture = embedded_pack(page, index["images"][1]["file"])
    assert picture == IMAGES[1].transpose(1, 2, 0).tobytes()


def test_same_arrays_give_the_same_bytes(packed, tmp_path: Path):
    """Packs, index and page."""
    results, _ = packed
    pack(tmp_path)
    for path in (results / "explorer").iterdir():
        assert path.read_bytes() == (tmp_path / "explorer" / path.name).read_bytes()
    assert page_of(results) == page_of(tmp_path)


def test_what_is_not_there_has_its_reason(tmp_path: Path):
    """No attention, no arrays, arrays of before: each says what to do."""
    names = ("vit", "san-pairwise")
    old = arrays_of("san-pairwise", every_query=False)
    save_arrays(tmp_path / "attention" / "san-pairwise.npz", old)
    save_arrays(tmp_path / "attention" / "vit.npz", arrays_of("vit"))
    index = pack_variants(NAME, *small_study(), tmp_path)
    reasons = {
        entry["id"]: entry.get("reason") for entry in read_json(index)["variants"]
    }
    again = f"python -m reattn attention {NAME}"
    assert reasons[names[0]] is None
    assert f"{again} san-pairwise" in reasons["san-pairwise"]
    assert f"{again} learned2d-9h-content" in reasons["learned2d-9h-content"]
    assert has_packs(tmp_path / "explorer")


def test_nothing_packed_leaves_the_page_as_it_is(tmp_path: Path):
    """A clone without arrays: the text says so, and no data is looked for."""
    pack_variants(NAME, *small_study(), tmp_path)
    assert not has_packs(tmp_path / "explorer")
    assert (
        "explorer-index"
        not in page_of(tmp_path).split("</style>")[1].split("<script")[0]
    )
    assert not has_packs(tmp_path / "nowhere")


@pytest.mark.parametrize("content", [b"", b"torn", None])
def test_a_torn_pack_is_one_message(tmp_path: Path, content: bytes | None):
    """It names the file and the command that makes it again."""
    index = pack(tmp_path, ("vit",))
    path = tmp_path / "explorer" / entry_of(index, "vit")["packs"][0]["file"]
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(
        ReattnError, match=rf"{path.name}.*pack-explorer {tmp_path.name}"
    ):
        page_of(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", '{"study": "x"}'])
def test_a_torn_index_is_one_message(tmp_path: Path, content: str):
    """As any torn file of a study."""
    path = tmp_path / "explorer" / "index.json"
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(ReattnError, match=re.escape(str(path))):
        has_packs(path.parent)


def test_torn_arrays_are_one_message(tmp_path: Path):
    """Every query's maps of another shape than the average's cannot be packed."""
    broken = {**arrays_of("vit"), "all_maps": arrays_of("vit")["all_maps"][:, :1]}
    save_arrays(tmp_path / "attention" / "vit.npz", broken)
    with pytest.raises(ReattnError, match=r"vit\.npz: all_maps missing or unusable"):
        pack_variants(NAME, *small_study(), tmp_path)


def test_colours_are_those_of_the_figures():
    """One colour map for the page and for print."""
    script = (ROOT / "report" / "page" / "40-explorer-colours.js").read_text()
    digits = "".join(re.findall(r'"([0-9a-f]{20,})"', script))
    for colours in (SEQUENTIAL, DIVERGING):
        table = colours(np.arange(colours.N), bytes=True)[:, :3].tobytes().hex()
        assert table in digits


def test_packing_needs_no_torch():
    """The job starts in a moment."""
    code = "import sys, reattn.explorer.study; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
