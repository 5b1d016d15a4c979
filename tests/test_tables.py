"""What the tables promise: numbers with their spread, or n/a with its reason."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_study import made_up_study, write_measurements, write_run

from reattn.config.resolution import overrides_of
from reattn.config.runs import Run
from reattn.errors import ReattnError
from reattn.tables import make_tables
from reattn.tables.cells import (
    COMPLETE,
    NOT_AVAILABLE,
    Row,
    join_reasons,
    split_reasons,
)
from reattn.tables.published import published_accuracies, read_published
from reattn.tables.statistics import OVER_IMAGES, OVER_SEEDS, accuracy_interval

PROMISED = [
    *("variant", "label", "group", "family", "heads", "hierarchical", "n_seeds"),
    *("accuracy_mean", "accuracy_std", "accuracy_ci_low", "accuracy_ci_high"),
    *("accuracy_authors_mean", "accuracy_best_eval_mean", "params", "flops"),
    *("wall_time_ms_mean", "wall_time_ms_std", "wall_time_plain_ms_mean"),
    *("wall_time_plain_ms_std", "throughput_img_s", "published_accuracy"),
    *("published_source", "status", "reason"),
]
TABLES = (
    *("models", "runs", "hyperparameters", "hierarchical", "variants"),
    "comparisons",
)
Percentages = st.floats(0, 100)


def rows_of(results: Path, table: str) -> list[dict[str, str]]:
    with (results / "tables" / f"{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def models_of(results: Path, **changes: object) -> dict[str, dict[str, str]]:
    study, variants = made_up_study(**changes)
    make_tables(study, variants, results)
    return {row["variant"]: row for row in rows_of(results, "models")}


def test_every_cell_has_a_value_or_na_with_a_reason(tmp_path: Path) -> None:
    """Nothing measured at all: no empty cell, no zero, a reason for each n/a."""
    models_of(tmp_path)
    for table in TABLES:
        for row in rows_of(tmp_path, table):
            assert "" not in row.values()
            absent = {column for column, cell in row.items() if cell == NOT_AVAILABLE}
            reasons = split_reasons(row["reason"])
            assert absent == set(reasons)
            assert all(reasons.values())


def test_models_has_the_promised_columns(tmp_path: Path) -> None:
    """Other programs read models.csv by these names, in this order."""
    models_of(tmp_path)
    header = (tmp_path / "tables" / "models.csv").read_text().split("\n")[0].split(",")
    assert header[: len(PROMISED)] == PROMISED


def test_a_missing_run_is_not_a_zero(tmp_path: Path) -> None:
    """Deleting the metrics of a run leaves a row that says so."""
    write_run(tmp_path, "vit")
    (tmp_path / "runs" / "vit" / "seed0" / "metrics.json").unlink()
    write_run(tmp_path, "resnet18")
    models = models_of(tmp_path)
    assert models["resnet18"]["status"] == "ok"
    assert models["vit"]["status"] == "missing"
    assert models["vit"]["accuracy_mean"] == NOT_AVAILABLE
    assert "metrics.json" in models["vit"]["reason"]


@pytest.mark.parametrize("content", ["", "{", "[1]", "null"])
def test_a_torn_metrics_file_stops_nothing(tmp_path: Path, content: str) -> None:
    """A file that is no JSON object is one missing row, not an exception."""
    folder = write_run(tmp_path, "vit")
    (folder / "metrics.json").write_text(content)
    assert models_of(tmp_path)["vit"]["status"] == "missing"


def test_status_counts_seeds(tmp_path: Path) -> None:
    """ok, partial with its count, else the worst; only ok runs make a mean."""
    write_run(tmp_path, "vit", 0, accuracy=60.0)
    write_run(tmp_path, "vit", 1, accuracy=70.0)
    write_run(tmp_path, "vit", 2, "diverged", "loss is not finite", accuracy=10.0)
    write_run(tmp_path, "ha-vit", 0, "failed", "out of memory", accuracy=None)
    write_run(tmp_path, "ha-vit", 1, "diverged", "loss is not finite", accuracy=None)
    for seed in range(3):
        write_run(tmp_path, "resnet18", seed, accuracy=90.0 + seed)
    models = models_of(tmp_path, seeds=[0, 1, 2])
    assert models["vit"]["status"] == "partial (2 of 3 seeds)"
    assert float(models["vit"]["accuracy_mean"]) == pytest.approx(65)
    assert models["vit"]["n_seeds"] == "2"
    assert models["ha-vit"]["status"] == "failed"
    assert "out of memory" in models["ha-vit"]["reason"]
    assert models["resnet18"]["status"] == "ok"
    assert float(models["resnet18"]["accuracy_std"]) == pytest.approx(1)
    assert models["resnet18"]["accuracy_ci_kind"] == OVER_SEEDS
    assert models["san-pairwise"]["status"] == "missing"


def test_one_seed_names_its_interval(tmp_path: Path) -> None:
    """A single run has a binomial interval over test images, and no deviation."""
    write_run(tmp_path, "vit", accuracy=50.0)
    vit = models_of(tmp_path)["vit"]
    assert vit["accuracy_ci_kind"] == OVER_IMAGES
    assert vit["accuracy_std"] == NOT_AVAILABLE
    assert 49 < float(vit["accuracy_ci_low"]) < 50 < float(vit["accuracy_ci_high"]) < 51


def test_imported_weights_are_shown_as_imported(tmp_path: Path) -> None:
    """Weights from elsewhere count only where nothing was trained here."""
    write_run(tmp_path, "vit", 420, "imported", accuracy=88.0, accuracy_authors=None)
    vit = models_of(tmp_path)["vit"]
    assert (vit["status"], float(vit["accuracy_mean"])) == ("imported", 88.0)
    write_run(tmp_path, "vit", 0, accuracy=60.0)
    vit = models_of(tmp_path)["vit"]
    assert (vit["status"], float(vit["accuracy_mean"])) == ("ok", 60.0)


def test_a_run_of_other_settings_is_stale(tmp_path: Path) -> None:
    """Stale is judged where tables are made, by the run's own fingerprint."""
    study, variants = made_up_study()
    vit = variants["vit"]
    run = Run("any", "vit", 0, study, vit, overrides_of(study, "vit", vit))
    write_run(tmp_path, "vit", fingerprint=run.fingerprint)
    assert models_of(tmp_path)["vit"]["status"] == "ok"
    changed = {"overrides": {"variants": {"vit": {"layers": 2}}}}
    row = models_of(tmp_path, **changed)["vit"]
    assert (row["status"], row["accuracy_mean"]) == ("stale", NOT_AVAILABLE)


def test_a_blank_measurement_gives_its_reason(tmp_path: Path) -> None:
    """What could not be timed is n/a, with the reason that the measuring gave."""
    _, variants = made_up_study()
    write_measurements(tmp_path, variants)
    path = tmp_path / "measure" / "measurements.csv"
    head, *lines = path.read_text().splitlines()
    blank = "vit" + "," * (head.count(",")) + "out of memory on the device"
    path.write_text("\n".join([head, *(ln for ln in lines if "vit" not in ln), blank]))
    models = models_of(tmp_path)
    assert models["vit"]["wall_time_ms_mean"] == NOT_AVAILABLE
    assert "out of memory" in split_reasons(models["vit"]["reason"])["flops"]
    assert float(models["resnet18"]["wall_time_ms_mean"]) == 1012.5
    assert models["ha-vit"]["params"] == NOT_AVAILABLE


def test_hierarchical_table_pairs_and_subtracts(tmp_path: Path) -> None:
    """Each hierarchical model beside its ordinary one, absolute and relative."""
    write_run(tmp_path, "vit", accuracy=80.0, params=1000)
    write_run(tmp_path, "ha-vit", accuracy=84.0, params=250)
    write_run(tmp_path, "ha-san-pairwise", accuracy=50.0)
    models_of(tmp_path)
    pairs = {row["variant"]: row for row in rows_of(tmp_path, "hierarchical")}
    assert len(pairs) == 5
    vit = pairs["ha-vit"]
    assert float(vit["accuracy_difference"]) == pytest.approx(4)
    assert float(vit["accuracy_difference_percent"]) == pytest.approx(5)
    assert float(vit["params_difference"]) == -750
    assert float(vit["params_difference_percent"]) == pytest.approx(-75)
    assert pairs["ha-san-pairwise"]["accuracy_difference"] == NOT_AVAILABLE


def test_overrides_stand_in_the_variants_table(tmp_path: Path) -> None:
    """A setting that the study changes is shown, and shown as changed."""
    models_of(tmp_path, overrides={"families": {"san": {"stages": 3}}})
    variants = {row["id"]: row for row in rows_of(tmp_path, "variants")}
    assert variants["san-pairwise"]["overrides"] == "stages=3"
    assert "stages=3" in variants["san-pairwise"]["settings"]
    assert variants["vit"]["overrides"] == NOT_AVAILABLE
    assert variants["vit"]["file"] == "config/variants/vit.yaml"


def test_tables_are_the_same_bytes_again(tmp_path: Path) -> None:
    """The same runs make the same files."""
    write_run(tmp_path, "vit")
    first = [models_of(tmp_path), (tmp_path / "tables" / "runs.csv").read_bytes()]
    assert first == [
        models_of(tmp_path),
        (tmp_path / "tables" / "runs.csv").read_bytes(),
    ]


def test_every_published_number_has_a_source() -> None:
    """A number without a source has no place, and each variant has an entry."""
    _, variants = made_up_study()
    content = read_published()
    published = published_accuracies(content)
    assert set(published) == set(variants)
    for entry in published.values():
        assert (entry.accuracy is None) == (entry.source is None)
        assert entry.accuracy is not None or entry.note
    known = [entry for entry in content["variants"].values() if "accuracy" in entry]
    for entry in [*known, *content["besides"]]:
        assert entry["run"].endswith(f"_{round(entry['accuracy'] * 100)}")


def test_broken_published_numbers_are_named(tmp_path: Path) -> None:
    """A broken file of published numbers stops with its name."""
    path = tmp_path / "published.yaml"
    path.write_text("variants: [")
    with pytest.raises(ReattnError, match=r"published\.yaml"):
        read_published(path)


@given(st.lists(Percentages, min_size=2, max_size=9))
def test_interval_of_seeds_contains_the_mean(accuracies: list[float]) -> None:
    """A t interval lies around the mean and within 0 to 100."""
    interval = accuracy_interval(accuracies, None)
    assert interval is not None
    centre = sum(accuracies) / len(accuracies)
    assert 0 <= interval.low <= centre + 1e-9
    assert centre - 1e-9 <= interval.high <= 100


def test_interval_of_seeds_by_hand() -> None:
    """Two seeds: mean plus or minus 12.706 standard errors (t, one degree)."""
    interval = accuracy_interval([50.0, 51.0], None)
    assert interval is not None
    assert interval.high - 50.5 == pytest.approx(12.7062 * 0.5, rel=1e-4)


@given(Percentages, st.integers(1, 10_000))
def test_interval_of_images_is_never_empty(accuracy: float, images: int) -> None:
    """Wilson's interval has a width even at 0 and 100 percent."""
    interval = accuracy_interval([accuracy], images)
    assert interval is not None
    assert 0 <= interval.low < interval.high <= 100


@given(st.dictionaries(st.sampled_from("abcdef"), st.text("xyz:, ", min_size=1)))
def test_reasons_survive_the_table(reasons: dict[str, str]) -> None:
    """Reasons are read back as they were, whatever they say."""
    row = Row()
    for column, reason in reasons.items():
        row.put(column, None, reason)
    kept = {column: row.reason(column) for column in reasons}
    assert split_reasons(join_reasons(kept)) == kept
    assert split_reasons(COMPLETE) == {}


def test_tables_and_report_load_no_torch() -> None:
    """Making tables and typesetting stay light: torch takes seconds to import."""
    code = "import sys, reattn.tables, reattn.report; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_runs_table_keeps_provenance(tmp_path: Path) -> None:
    """Each run says where its numbers came from."""
    folder = write_run(tmp_path, "vit")
    models_of(tmp_path)
    metrics = json.loads((folder / "metrics.json").read_text())
    row = next(r for r in rows_of(tmp_path, "runs") if r["variant"] == "vit")
    for key in ("commit", "device", "threads", "precision", "data_checksum"):
        assert row[key] == str(metrics[key])
    assert "nothing is selected" in split_reasons(row["reason"])["validation_accuracy"]
