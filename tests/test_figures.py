"""Figures: readable, true to their numbers, and the same bytes every time."""

import io
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pypdf
import pytest
import typst
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from reattn.attention.arrays import save_arrays, with_meta
from reattn.errors import ReattnError
from reattn.figures import (
    attention,
    comparison,
    curves,
    diagrams,
    published,
    published_marks,
)
from reattn.figures.attention_grid import percent, strip_of_maps
from reattn.figures.gaussians import ellipse
from reattn.figures.local_weights import colours_of, shares
from reattn.figures.photographs import mark_queries
from reattn.figures.style import SEQUENTIAL, font_folder, new_sheet, styled
from reattn.files import read_json

REDUCED = "patches of 4×4 and 2 layers instead of the report's models and 300 epochs"
LABEL = "Hierarchical Learned 2D w/ content; 16 heads"
POINTS_OF_16_CM = 16 / 2.54 * 72


def described(**changes) -> dict:
    meta = {
        "study": "test",
        "variant": "a-variant",
        "label": LABEL,
        "family": "learned2d",
        "seed": 0,
        "kind": "global",
        "reason": None,
        "image_names": ["a photo.jpg"],
        "reduced": REDUCED,
        "normalised": True,
        "image_independent": True,
        "data_source": "image-folder",
    }
    return meta | changes


def grid_arrays(heads=3, layers=2, grid=(4, 4), **changes) -> dict:
    generator = np.random.default_rng(0)
    maps = generator.random((1, layers, heads, 2, *grid)).astype(np.float32)
    maps /= maps.sum((-1, -2), keepdims=True)
    arrays = {
        "images": generator.integers(0, 256, (1, 16, 16, 3), dtype=np.uint8),
        "query_pixels": np.array([[0, 0], [8, 12]]),
        "queries": np.array([[0, 0], [2, 3]]),
        "query_maps": maps,
        "average_maps": maps.mean(3),
    }
    return with_meta(arrays | changes.pop("more", {}), described(**changes))


def vit_arrays() -> dict:
    mass = np.full((1, 2, 3, 2), 0.4375, np.float32)
    more = {"class_mass": mass, "average_class_mass": mass.mean(-1)}
    return grid_arrays(more=more, image_independent=False)


def quadratic_arrays() -> dict:
    centers = np.array([[[0, 0], [1.5, -1], [90, 2]], [[np.nan] * 2, [1, 1], [2, 0]]])
    covariances = np.broadcast_to([[2.0, 0.5], [0.5, 1.0]], (2, 3, 2, 2))
    return grid_arrays(more={"centers": centers, "covariances": covariances})


def san_arrays(normalised=True) -> dict:
    arrays = {
        "images": np.zeros((1, 16, 16, 3), np.uint8),
        "query_pixels": np.array([[8, 12]]),
        "map_sizes": np.array([[8, 8], [2, 2]]),
    }
    for call, channels in enumerate((2, 18)):
        weights = np.random.default_rng(call).random((1, channels, 1, 3, 3)) - 0.5
        weights = np.abs(weights) if normalised else weights
        arrays[f"query_weights_{call}"] = weights
        arrays[f"average_weights_{call}"] = weights[:, :, 0]
    meta = described(kind="local", normalised=normalised, image_independent=False)
    return with_meta(arrays, meta)


def history(epochs=4, every=3) -> pd.DataFrame:
    epoch = np.arange(1, epochs + 1)
    accuracy = np.where((epoch - 1) % every == 0, 10.0 * epoch, np.nan)
    return pd.DataFrame(
        {
            "epoch": epoch,
            "learning_rate": 0.1 / epoch,
            "train_loss": 2.0 / epoch,
            "train_accuracy": 11.0 * epoch,
            "test_accuracy_eval": accuracy,
        }
    )


HISTORIES = {
    ("vit", "ViT"): {0: history(), 5: history(9)},
    ("long", LABEL): {0: history(30)},
    ("lost", "Quadratic encoding (non-isotropic); 16 heads"): {},
}
MODELS = pd.DataFrame(
    {
        "variant": ["resnet18", "vit", "ha-vit", "odd"],
        "label": ["ResNet18", "ViT", "Hierarchical ViT", LABEL],
        "hierarchical": [False, False, True, True],
        "accuracy_mean": ["93.1", "n/a", "88.26", "71"],
        "accuracy_std": ["n/a", "n/a", "0.4", "n/a"],
        "params": ["11173962", "37394506", "6531946", "5"],
        "wall_time_plain_ms_mean": ["n/a"] * 4,
    }
)
DRAWINGS = {
    "grid": lambda to: attention.draw_attention_figures(grid_arrays(), to),
    "large": lambda to: attention.draw_attention_figures(
        grid_arrays(16, 6, (16, 16)), to
    ),
    "oblong": lambda to: attention.draw_attention_figures(grid_arrays(grid=(4, 6)), to),
    "vit": lambda to: attention.draw_attention_figures(vit_arrays(), to),
    "quadratic": lambda to: attention.draw_attention_figures(quadratic_arrays(), to),
    "pairwise": lambda to: attention.draw_attention_figures(san_arrays(), to),
    "patchwise": lambda to: attention.draw_attention_figures(san_arrays(False), to),
    "diagrams": diagrams.draw_diagrams,
    "curves": lambda to: curves.draw_curves(HISTORIES, to, REDUCED),
    "comparison": lambda to: comparison.draw_comparison(MODELS, to, REDUCED),
}
MODULES = (attention, diagrams, curves, comparison)


@pytest.fixture(scope="module", params=DRAWINGS)
def drawing(request, tmp_path_factory):
    """Name, folder, entries and figures of one way to draw."""
    folder, figures = tmp_path_factory.mktemp(request.param), []
    with pytest.MonkeyPatch.context() as patch:
        for module in MODULES:
            save = module.save_svg

            def keep(figure, path, *, title, save=save):
                figures.append(figure)
                return save(figure, path, title=title)

            patch.setattr(module, "save_svg", keep)
        entries = DRAWINGS[request.param](folder)
    return request.param, folder, entries, figures


def texts(path) -> str:
    root = ElementTree.parse(path).getroot()
    drawn = [e for e in root.iter() if e.tag.endswith("}text")]
    return " ".join("".join(element.itertext()) for element in drawn)


def svg_files(folder) -> list:
    return sorted(folder.glob("*.svg"))


def test_figures_json_tells_of_every_file(drawing):
    """The list, the folder and the return value agree; all have caption and alt."""
    _, folder, entries, _ = drawing
    assert read_json(folder / "figures.json") == entries
    named = [entry["file"] for entry in entries if entry["file"]]
    assert sorted(named) == [path.name for path in svg_files(folder)]
    assert all(entry["caption"] for entry in entries)
    assert all(entry["alt"] for entry in entries if entry["file"])


def test_drawing_again_gives_the_same_bytes(drawing, tmp_path):
    """Same arrays, same file, whatever the user's matplotlibrc says."""
    name, folder, _, _ = drawing
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red"}):
        DRAWINGS[name](tmp_path)
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_svg_fits_the_text_block_and_can_be_read(drawing):
    """16 cm wide, real text of at least 7 pt (indices of symbols: 6.9), no date."""
    for path in svg_files(drawing[1]):
        source = path.read_text(encoding="utf-8")
        root = ElementTree.fromstring(source)
        width = float(root.attrib["width"].removesuffix("pt"))
        assert width == pytest.approx(POINTS_OF_16_CM, abs=0.1)
        sizes = [float(size) for size in re.findall(r"font-size:([\d.]+)px", source)]
        sizes += [float(size) for size in re.findall(r"font:[^;}]*?([\d.]+)px", source)]
        assert sizes
        assert min(sizes) >= 6.9
        assert "<dc:date>" not in source
        assert root.attrib["font-family"].startswith("DejaVu Sans,")


def test_nothing_leaves_its_figure(drawing):
    """Long labels and long notes stay within the page."""
    for figure in drawing[3]:
        renderer = FigureCanvasAgg(figure).get_renderer()
        drawn, (width, height) = (
            figure.get_tightbbox(renderer),
            figure.get_size_inches(),
        )
        outside = (-drawn.x0, drawn.x1 - width, -drawn.y0, drawn.y1 - height)
        assert max(outside) < 0.02


def test_a_reduced_study_says_so_wherever_numbers_stand(drawing):
    """In the figure itself and in its caption; diagrams have no numbers."""
    name, folder, entries, _ = drawing
    for entry in entries:
        if not entry["file"] or name == "diagrams":
            continue
        assert "Reduced study: patches of 4×4" in texts(folder / entry["file"])
        assert REDUCED in entry["caption"]


def test_figures_need_no_display_no_pyplot_and_no_torch(tmp_path):
    """Case D16: a node without a display draws, even if told to open windows."""
    save_arrays(tmp_path / "a.npz", grid_arrays())
    program = (
        "import sys\n"
        "from reattn.attention.arrays import load_arrays\n"
        "from reattn.figures.attention import draw_attention_figures\n"
        "from reattn.figures import comparison, curves, diagrams\n"
        "draw_attention_figures(load_arrays('a.npz'), 'out')\n"
        "print(sorted({'torch', 'matplotlib.pyplot', 'tkinter'} & set(sys.modules)))\n"
    )
    environment = os.environ | {"DISPLAY": "localhost:64.0", "MPLBACKEND": "TkAgg"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
    assert len(svg_files(tmp_path / "out")) == 3


@pytest.mark.parametrize("drawing", ["large"], indirect=True)
def test_sixteen_heads_by_six_layers_stay_readable(drawing):
    """The largest grid of the report has maps of at least 8 mm."""
    strips = drawing[3][0].axes[0].images[-6:]
    for strip in strips:
        left, right, bottom, top = strip.get_extent()
        assert strip.get_array().shape[0] == 16
        assert bottom - top >= 0.8
        assert 0 < left < right <= 16


@pytest.mark.parametrize("drawing", ["vit", "diagrams"], indirect=True)
def test_typst_sets_the_same_file_in_the_figures_font(drawing, tmp_path):
    """One SVG serves page and print: no text falls back to another font."""
    for path in svg_files(drawing[1]):
        shutil.copy(path, tmp_path)
        source = tmp_path / "print.typ"
        source.write_text(f'#image("{path.name}", width: 16cm)')
        fonts = {"font_paths": [str(font_folder())], "ignore_system_fonts": True}
        printed = typst.compile(str(source), **fonts)
        page = pypdf.PdfReader(io.BytesIO(printed)).pages[0]
        assert "Layer 1" in page.extract_text()
        assert embedded_fonts(page) == {"DejaVuSans"}


def embedded_fonts(page) -> set[str]:
    """Families of the fonts in a page and in the drawings that it shows."""
    resources, families = [page["/Resources"]], set()
    while resources:
        these = resources.pop()
        for font in these.get("/Font", {}).values():
            name = font.get_object()["/BaseFont"]
            families.add(name.split("+")[-1].split("-")[0])
        for form in these.get("/XObject", {}).values():
            if "/Resources" in form.get_object():
                resources.append(form.get_object()["/Resources"])
    return families


def test_each_map_is_scaled_by_its_own_maximum():
    """The brightest cell of every map has the top colour; gaps are clear."""
    maps = np.zeros((2, 4, 12))
    maps[0, 1, 2], maps[1, 3, 11], maps[1, 0, 0] = 0.9, 1e-4, 5e-5
    strip = strip_of_maps(maps, 1 / 12)
    assert strip.shape == (4, 25, 4)
    top, bottom = SEQUENTIAL([1.0, 0.0], bytes=True)
    assert (strip[1, 2] == top).all()
    assert (strip[3, 13 + 11] == top).all()
    assert (strip[0, 13] == SEQUENTIAL(0.5, bytes=True)).all()
    assert (strip[0, 0] == bottom).all()
    assert (strip[:, 12, 3] == 0).all()


@given(st.integers(0, 3), st.integers(0, 5))
def test_the_mark_surrounds_the_query_cell(row, column):
    """Row counts down, column to the right, on maps that are not square too."""
    _, sheet = new_sheet(10)
    mark_queries(sheet, [(1.0, 2.0)], (4.0, 3.0), (4, 6), (row, column))
    box = sheet.patches[0].get_path().get_extents()
    assert box.x0 < 1 + column / 2 < 1 + (column + 1) / 2 < box.x1
    assert box.y0 < 2 + row < 3 + row < box.y1
    assert box.width < 0.6
    assert box.height < 1.1


def test_patchwise_weights_diverge_from_white():
    """Zero is white; opposite weights stand at opposite ends."""
    colours = colours_of(False)
    places = shares(np.array([-2.0, 0.0, 2.0]), 2.0, False)
    low, zero, high = colours(places)[:, :3]
    assert zero.min() > 0.95
    assert low[2] > low[0]
    assert high[0] > high[2]
    assert (shares(np.array([0.0, 2.0]), 2.0, True) == [0, 1]).all()


@given(
    st.floats(0.2, 4), st.floats(0.2, 4), st.floats(-0.9, 0.9), st.sampled_from([1, 2])
)
def test_ellipses_lie_at_their_number_of_deviations(first, second, part, deviations):
    """Every point of the contour has that Mahalanobis distance from the centre."""
    mixed = part * first * second
    covariance = np.array([[first**2, mixed], [mixed, second**2]])
    center = np.array([1.0, -2.0])
    shape = ellipse(center, covariance, deviations, "black")
    vertices = shape.get_patch_transform().transform(
        [(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, 6, 13)]
    )
    offsets = vertices[:, ::-1] - center
    distances = np.einsum("ni,ij,nj->n", offsets, np.linalg.inv(covariance), offsets)
    np.testing.assert_allclose(np.sqrt(distances), deviations, rtol=1e-6)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (100, "100"),
        (12.3, "12"),
        (9.96, "10"),
        (2, "2.0"),
        (0.39, "0.39"),
        (0.098, "0.098"),
        (1e-4, "<0.01"),
        (0, "0"),
        (np.nan, "n/a"),
    ],
)
def test_percentages_fit_under_a_map(number, words):
    """Short, two digits, never in powers of ten."""
    assert percent(number) == words


def test_class_token_share_stands_under_each_map(tmp_path):
    """A ViT's figure gives what the token takes, as a number and in words."""
    entries = attention.draw_attention_figures(vit_arrays(), tmp_path)
    for entry in entries:
        content = texts(tmp_path / entry["file"])
        assert content.split().count("44") == 6
        assert "class token" in content


def test_no_attention_is_a_reason(tmp_path):
    """Without attention there is one entry with the reason, and no file."""
    arrays = with_meta({}, described(kind="none", reason="It is convolutional."))
    (entry,) = attention.draw_attention_figures(arrays, tmp_path)
    assert (entry["kind"], entry["file"]) == ("none", None)
    assert entry["caption"] == "It is convolutional."
    assert entry["variant"] == "a-variant"
    with pytest.raises(ReattnError):
        attention.draw_attention_figures({}, tmp_path)


def test_one_figure_a_query_and_one_of_the_average(tmp_path):
    """Each image has its queries, named by their pixels, and its average."""
    entries = attention.draw_attention_figures(grid_arrays(), tmp_path)
    assert [entry["query"] for entry in entries] == [[0, 0], [8, 12], None]
    assert [entry["kind"] for entry in entries] == ["query", "query", "average"]
    assert {entry["image"] for entry in entries} == {"a photo.jpg"}
    assert "all 16 queries" in entries[2]["caption"]


def test_variants_without_runs_do_not_stop_the_curves(tmp_path):
    """They have an entry with the reason and an empty panel in the overview."""
    entries = curves.draw_curves(HISTORIES, tmp_path, None)
    kinds = [entry["kind"] for entry in entries]
    assert kinds == ["curves", "curves", "none", "overview"]
    assert "seed 5" in texts(tmp_path / "vit_curves.svg")
    assert "no run" in texts(tmp_path / "overview.svg")
    assert "Reduced" not in entries[0]["caption"]
    (only,) = curves.draw_curves({("lost", "Lost"): {}}, tmp_path / "none", None)
    assert only["kind"] == "none"


def test_pairs_are_an_ordinary_model_and_its_hierarchical_version(tmp_path):
    """A pair has both values, or n/a in place of one; others stand alone."""
    entries = comparison.draw_comparison(MODELS, tmp_path, None)
    assert [entry["kind"] for entry in entries] == ["models", "comparison"]
    pair = texts(tmp_path / "hierarchical.svg")
    for words in ("6.53", "37.4", "88.3", "ViT"):
        assert words in pair
    assert "ResNet18" not in pair
    assert pair.split().count("n/a") == 3
    assert texts(tmp_path / "models.svg").split().count("n/a") == 5
    alone = MODELS.iloc[[0, 3]].assign(ordinary="n/a")
    (entry,) = comparison.draw_comparison(alone, tmp_path / "alone", None)
    assert entry["kind"] == "models"


def test_published_numbers_stand_beside_measured_ones_with_intervals(tmp_path):
    """On one axis; a reduced study says in words that the sizes differ."""
    models = MODELS.assign(
        published_accuracy=["93.11", *["n/a"] * (len(MODELS) - 1)],
        accuracy_authors_mean="88.01",
        accuracy_ci_low="85.5",
        accuracy_ci_high="90.5",
    )
    judged = pd.DataFrame({"variant": models["variant"], "low": 86.25, "high": 91.75})
    entries = comparison.draw_comparison(models, tmp_path, REDUCED, judged)
    (entry,) = [entry for entry in entries if entry["kind"] == "published"]
    assert "judges neither" in entry["caption"]
    drawn = texts(tmp_path / "published.svg")
    assert "93.11" in drawn
    assert "88.01" in drawn
    whole = comparison.draw_comparison(models, tmp_path / "whole", None, judged)
    assert "judges neither" not in whole[-1]["caption"]
    with_ends = published_marks.with_expected_runs(models, judged)
    assert (with_ends["one_run_low"] == 86.25).all()
    with styled():
        panel = published.draw_published(with_ends, None).axes[1]
    spans = {tuple(map(float, line.get_xdata())) for line in panel.get_lines()}
    assert {(85.5, 90.5), (86.25, 91.75)} <= spans
