"""Torn and foreign files: one sentence that names the file, or a row with a reason."""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ROOT, write_study
from made_up_study import made_up_study, write_measurements, write_run

from reattn.attention.arrays import save_arrays, with_meta
from reattn.attention.study import save_attention
from reattn.config.studies import DataSettings
from reattn.data import open_data, prepare
from reattn.errors import ReattnError
from reattn.figures.charts import draw_charts
from reattn.figures.credits import credit
from reattn.figures.study import draw_variant
from reattn.files import read_json
from reattn.models.build import build_model
from reattn.models.recording import attention_probabilities
from reattn.tables import make_tables
from reattn.tables.cells import NOT_AVAILABLE, split_reasons
from reattn.tables.published import read_published

STUDY, VARIANT = "tiny", "learned2d-9h-content"


def told(fault: ReattnError, *words: str) -> None:
    """The message is short, has all words, and shows no Python."""
    message = str(fault)
    for word in words:
        assert word in message, message
    assert len(message) < 500
    assert "Traceback" not in message


def written(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text)
    return path


# ------------------------------------------------------------------ prepared data


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "digits"
    prepare(DataSettings(source="digits", image_size=4), folder, None)
    return folder


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (3, "its keys"),
        ([1], "its keys"),
        ("{", "not valid JSON"),
        ({"counts": {"train": 3}}, "counts.test"),
        ({"counts": [1, 2]}, "counts"),
        ({"counts": {"train": "3", "test": 1}}, "counts.train"),
        ({"mean": [0.1]}, "mean"),
        ({"mean": None}, "mean"),
        ({"std": [0.1, 0.0, 0.1]}, "std"),
        ({"classes": None}, "classes"),
        ({"image_size": True}, "image_size"),
        ({"source": None}, "source"),
        ({"checksum": 5}, "checksum"),
    ],
)
def test_data_json(prepared, tmp_path, change, words):
    """Nothing is broadcast, truncated or looked up in vain."""
    shutil.copytree(prepared, tmp_path / "data")
    path = tmp_path / "data" / "data.json"
    content = read_json(path) | change if isinstance(change, dict) else change
    written(path, content)
    with pytest.raises(ReattnError) as caught:
        open_data(tmp_path / "data")
    told(caught.value, "data.json", words, "prepare the data again")


def test_an_archive_in_the_place_of_an_array(prepared, tmp_path):
    """An npz under the name of an npy is no array."""
    shutil.copytree(prepared, tmp_path / "data")
    with (tmp_path / "data" / "labels.npy").open("wb") as file:
        np.savez(file, label=np.zeros(3))
    with pytest.raises(ReattnError) as caught:
        open_data(tmp_path / "data")
    told(caught.value, "labels.npy", "prepare the data again")


# ---------------------------------------------------------------------- attention


@pytest.mark.parametrize("content", [{}, [1], {"status": 3}, "null", "{"])
def test_status_json(project, content):
    """How a run ended is read, or told to be unknown."""
    write_study(project)
    folder = project / "results" / STUDY / "runs" / VARIANT / "seed0"
    written(folder / "status.json", content)
    with pytest.raises(ReattnError) as caught:
        save_attention(STUDY, VARIANT)
    told(caught.value, "status.json")


def attention_arrays(**changes: object) -> dict:
    """Arrays of two images of one base name."""
    arrays = {
        "images": np.zeros((2, 16, 16, 3), np.uint8),
        "query_pixels": np.array([[3, 4]]),
        "queries": np.array([[0, 1]]),
        "query_maps": np.full((2, 1, 2, 1, 4, 4), 1 / 16),
        "average_maps": np.full((2, 1, 2, 4, 4), 1 / 16),
    }
    meta = {
        "study": STUDY,
        "variant": VARIANT,
        "label": "A label",
        "seed": 0,
        "kind": "global",
        "image_names": ["china.jpg", "china.jpg"],
    }
    for name, value in changes.items():
        (meta if name in meta else arrays)[name] = value
    kept = {name: array for name, array in arrays.items() if array is not None}
    return with_meta(kept, {k: v for k, v in meta.items() if v is not None})


def draw(project: Path, arrays: dict) -> Path:
    """Draw arrays as the command line does; return the folder of figures."""
    write_study(project)
    results = project / "results" / STUDY
    save_arrays(results / "attention" / f"{VARIANT}.npz", arrays)
    draw_variant(STUDY, VARIANT)
    return results / "figures" / "attention" / VARIANT


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"query_maps": None}, "query_maps"),
        ({"query_maps": np.zeros((2, 1, 2, 4, 4))}, "query_maps"),
        ({"average_maps": np.zeros((1, 1, 2, 4, 4))}, "average_maps"),
        ({"images": np.array("text")}, "images"),
        ({"queries": np.zeros((2, 2))}, "queries"),
        ({"class_mass": np.zeros((2, 1, 2, 1))}, "average_class_mass"),
        ({"centers": np.zeros((1, 2, 2))}, "covariances"),
        ({"image_names": None}, "image_names"),
        ({"image_names": ["one"]}, "images"),
        ({"label": None}, "label"),
        ({"kind": "nosuch"}, "kind"),
        ({"kind": "local"}, "normalised"),
        ({"kind": "none"}, "reason"),
    ],
)
def test_attention_arrays(project, change, word):
    """An array that figures need is missed before anything is drawn."""
    with pytest.raises(ReattnError) as caught:
        draw(project, attention_arrays(**change))
    told(caught.value, f"{VARIANT}.npz", word, "python -m reattn attention")
    assert not (project / "results" / STUDY / "figures").exists()


@pytest.mark.parametrize("missing", ["map_sizes", "query_weights_0", "images"])
def test_local_attention_arrays(project, missing):
    """Those of a SAN likewise."""
    local = {
        "map_sizes": np.array([[8, 8]]),
        "query_weights_0": np.zeros((2, 4, 1, 3, 3)),
        "average_weights_0": np.zeros((2, 4, 3, 3)),
    }
    arrays = attention_arrays(kind="local", **local)
    meta = json.loads(str(arrays.pop("meta"))) | {"normalised": True}
    del arrays[missing]
    with pytest.raises(ReattnError) as caught:
        draw(project, with_meta(arrays, meta))
    told(caught.value, f"{VARIANT}.npz", missing)


def test_two_images_of_one_name_have_their_own_figures(project):
    """No figure overwrites another, and captions tell who took a photograph."""
    folder = draw(project, attention_arrays())
    entries = read_json(folder / "figures.json")
    files = [entry["file"] for entry in entries]
    assert len(set(files)) == len(files) == 4
    assert all((folder / file).is_file() for file in files)
    for entry in entries:
        assert "Photograph: danielbuechele, CC BY 2.0." in entry["caption"]


def test_other_images_are_credited_to_nobody():
    """An attribution is a fact about two photographs."""
    assert credit("mine.jpg") == []
    assert "vultilion" in credit("flower.jpg")[0]


# ------------------------------------------------------------------------- charts


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "epoch,train_loss\n1,2\n"])
def test_history_csv(project, content):
    """A torn history is named, with what to do about it."""
    write_study(project)
    runs = project / "results" / STUDY / "runs"
    written(runs / VARIANT / "seed0" / "history.csv", content)
    with pytest.raises(ReattnError) as caught:
        draw_charts(STUDY, "curves")
    told(caught.value, "history.csv", "train the run again")


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "variant,label\n", "label\nx\n"])
def test_models_csv(project, content):
    """An empty or foreign table of models is named, with how to make it."""
    write_study(project)
    written(project / "results" / STUDY / "tables" / "models.csv", content)
    with pytest.raises(ReattnError) as caught:
        draw_charts(STUDY, "comparison")
    told(caught.value, "models.csv", f"python -m reattn tables {STUDY}")


def test_sizes_that_no_logarithmic_axis_shows_are_not_available(project):
    """Text and zeros in a table of models are n/a, not an exception."""
    write_study(project)
    rows = "variant,label,params,accuracy_mean\na,A,0,text\nb,B,-1,71\n"
    written(project / "results" / STUDY / "tables" / "models.csv", rows)
    draw_charts(STUDY, "comparison")


@pytest.mark.parametrize("kind", ["diagrams", "curves", "comparison"])
def test_charts_of_no_study(project, kind):
    """A study that does not exist gets no folder of results."""
    write_study(project)
    with pytest.raises(ReattnError) as caught:
        draw_charts("tinny", kind)
    told(caught.value, "'tinny'", f"Did you mean {STUDY}?")
    assert not (project / "results").exists()


@pytest.mark.parametrize("look", [draw_variant, save_attention])
def test_a_variant_that_is_not_of_the_study(project, look):
    """The name is to blame, not an array that could not be there."""
    write_study(project)
    with pytest.raises(ReattnError) as caught:
        look(STUDY, "learned2d-9h-contents")
    told(caught.value, "learned2d-9h-contents", f"Did you mean {VARIANT}?")
    with pytest.raises(ReattnError) as caught:
        look("tinny", VARIANT)
    told(caught.value, "'tinny'", f"Did you mean {STUDY}?")


# ------------------------------------------------------------------------- tables


def tables_of(results: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The ViT's rows in models.csv and runs.csv."""
    study, variants = made_up_study()
    make_tables(study, variants, results)
    rows = []
    for table in ("models", "runs"):
        with (results / "tables" / f"{table}.csv").open(newline="") as file:
            rows.append(next(r for r in csv.DictReader(file) if r["variant"] == "vit"))
    return tuple(rows)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("accuracy", value) for value in ("71 %", [71], True, -1, 101)),
        ("accuracy", float("nan")),
        ("accuracy_authors", "best"),
        ("test_images", "many"),
        ("test_images", -5),
        ("params", {"all": 1}),
        ("micro_batch", [16]),
        ("epochs_run", 10**400),
    ],
)
def test_metrics_json(tmp_path, key, value):
    """What is no number makes a row that says so, and stops no table."""
    write_run(tmp_path, "vit", **{key: value})
    model, run = tables_of(tmp_path)
    assert model["status"] == run["status"] == "missing"
    assert model["accuracy_mean"] == NOT_AVAILABLE
    for reason in (split_reasons(model["reason"])["accuracy_mean"], run["reason"]):
        assert f"as {key}; train the run again" in reason


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("runs/vit/seed0/status.json", c) for c in ([1], {"status": ["ok"]}, "{")),
        ("runs/vit/seed0/status.json", {"status": "failed", "reason": 5}),
        *(("data/data.json", c) for c in (3, {"counts": [1]}, {"counts": None})),
        ("data/data.json", {"counts": {"test": "many"}}),
        ("runs/vit/seed0/predictions.npz", "torn"),
    ],
)
def test_other_files_of_a_run_stop_no_table(tmp_path, name, content):
    """Tables are made whatever stands in the files beside the metrics."""
    write_run(tmp_path, "vit", test_images=None, validation_reason=7)
    written(tmp_path / name, content)
    model, _ = tables_of(tmp_path)
    assert model["reason"]


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "variant\n"])
def test_measurements_csv(tmp_path, content):
    """A foreign table of measurements is a reason in every row."""
    write_run(tmp_path, "vit")
    written(tmp_path / "measure" / "measurements.csv", content)
    model, _ = tables_of(tmp_path)
    reason = split_reasons(model["reason"])["wall_time_ms_mean"]
    assert "measurements.csv" in reason
    assert "measure again" in reason
    assert model["params"] == "123456"


@pytest.mark.parametrize("cell", ["inf", "nan", "text"])
def test_a_measurement_that_is_no_number(tmp_path, cell):
    """Such a cell is n/a with a reason."""
    rows = f"variant,params,flops\nvit,{cell},{cell}\n"
    written(tmp_path / "measure" / "measurements.csv", rows)
    model, _ = tables_of(tmp_path)
    assert model["params"] == model["flops"] == NOT_AVAILABLE
    assert "no number" in split_reasons(model["reason"])["flops"]


def test_milliseconds_keep_their_decimals(tmp_path):
    """Counts are whole numbers in the table of pairs; times are not, at any size."""
    _, variants = made_up_study()
    write_measurements(tmp_path, variants)
    tables_of(tmp_path)
    with (tmp_path / "tables" / "hierarchical.csv").open(newline="") as file:
        row = next(r for r in csv.DictReader(file) if r["variant"] == "ha-vit")
    assert float(row["wall_time_ms_hierarchical"]) % 1 == 0.5
    assert "." not in row["params_hierarchical"] + row["flops_difference"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("sources:", "origins:", "sources is missing"),
        ("status: inferred", "state: inferred", "status is missing"),
        ("source: run-names", "source: run-name", "Did you mean run-names?"),
        ("accuracy: 93.65", "accuracy: high", "accuracy = 'high'"),
        ("variants:", "variants: 3\nrest:", "variants = 3"),
    ],
)
def test_published_yaml(tmp_path, old, new, words):
    """A key that tables need is missed by name."""
    text = (ROOT / "config" / "published.yaml").read_text()
    assert old in text
    path = written(tmp_path / "published.yaml", text.replace(old, new, 1))
    with pytest.raises(ReattnError) as caught:
        read_published(path)
    told(caught.value, "published.yaml", words)


# ------------------------------------------------------- images that cannot enter


SMALL = {"width": 8, "feed_forward": 8, "heads": 2, "layers": 1, "patch_size": 4}
MODELS = {
    "learned2d-9h-nocontent": SMALL,
    "quadratic-9h-isotropic": SMALL,
    "vit": SMALL | {"stem_width": 4},
    "san-pairwise": {"width": 32, "stages": 2, "blocks": 1},
    "ha-san-patchwise": {"width": 32, "layers": 1},
}


@pytest.mark.parametrize("variant", MODELS)
@pytest.mark.parametrize(
    ("images", "word"),
    [
        (torch.zeros(1, 1, 8, 8), "(1, 1, 8, 8)"),
        (torch.zeros(3, 8, 8), "(3, 8, 8)"),
        (torch.zeros(0, 3, 8, 8), "(0, 3, 8, 8)"),
        (torch.zeros(1, 3, 8, 8, dtype=torch.uint8), "torch.uint8"),
        (torch.zeros(1, 3, 8, 8).double(), "torch.float64"),
        (np.zeros((1, 3, 8, 8)), "ndarray"),
        (torch.zeros(1, 3, 1, 1), "1x1"),
    ],
)
def test_images_that_do_not_fit(variant, images, word):
    """Shape, type and size are told before torch fails inside the model."""
    model = build_model(variant, image_size=8, **MODELS[variant])
    with pytest.raises(ReattnError) as caught:
        attention_probabilities(model, images)
    told(caught.value, "cannot take these images", word)


def test_a_map_of_equally_many_patches_is_another_map():
    """Twice as wide and half as high would pass unnoticed."""
    model = build_model("quadratic-9h-isotropic", image_size=(8, 16), **SMALL)
    with pytest.raises(ReattnError, match="built for 8x16"):
        attention_probabilities(model, torch.zeros(1, 3, 16, 8))


def test_models_without_positions_take_other_sizes():
    """A SAN of 8x8 images attends in larger ones too."""
    model = build_model("san-pairwise", image_size=8, **MODELS["san-pairwise"])
    assert attention_probabilities(model, torch.zeros(1, 3, 12, 16))


@pytest.mark.parametrize("variant", ["san-pairwise", "quadratic-9h-isotropic"])
def test_a_generator_for_a_model_that_draws_nothing(variant):
    """Only a ViT takes one."""
    model = build_model(variant, image_size=8, **MODELS[variant])
    with pytest.raises(ReattnError, match="leave generator=None"):
        attention_probabilities(
            model, torch.zeros(1, 3, 8, 8), generator=torch.Generator()
        )


@pytest.mark.parametrize(
    "arguments",
    [
        *({"image_size": size} for size in (True, (8, True), 8.5, None, (8,), "8")),
        *({"num_classes": count} for count in (True, 2.0, 0)),
    ],
)
def test_sizes_that_are_no_whole_numbers(arguments):
    """True is no side of an image."""
    with pytest.raises(ReattnError, match=next(iter(arguments))):
        build_model("vit", **arguments)
