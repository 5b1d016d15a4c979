"""What deviations cost: twins, evaluations of the same runs, images one by one."""

from pathlib import Path

import numpy as np
import pytest
from made_up_study import NAME, made_up_study, make_all_tables, write_run
from typer.testing import CliRunner

from reattn.cli.main import app
from reattn.errors import ConfigError, ReattnError
from reattn.report.context import read_context
from reattn.tables import audit, evaluations, make_tables
from reattn.tables.agreement import COUNTS, compare_predictions
from reattn.tables.audit_cells import COLUMNS
from reattn.tables.cells import NOT_AVAILABLE, Row, read_table, split_reasons
from reattn.tables.differences import NO_INTERVAL, OVER_IMAGES, PAIRED, WELCH
from reattn.tables.ledger import read_ledger
from reattn.tables.runs import RunRecord

ROOT = Path(__file__).parents[1]
MODEL, TWIN = "learned2d-9h-content", "learned2d-9h-content-aligned"
SETTINGS = {"model": {}, "recipe": {"batch": 100}, "budget": {"epochs": 3}}


def run_of(variant: str, seed: int, accuracy: float | None, **changes) -> RunRecord:
    """A run that ended well, unless `changes` say otherwise."""
    status = changes.pop("status", "ok")
    metrics = {"accuracy": accuracy, "initial_weights": f"digest {seed}"}
    metrics |= {"settings": SETTINGS | {"model": {"name": variant}}} | changes
    return RunRecord(variant, seed, status, None, True, metrics, 1000)


def runs_of(variant: str, *accuracies: float, **changes) -> list[RunRecord]:
    return [run_of(variant, s, a, **changes) for s, a in enumerate(accuracies)]


def rows_of(results: Path, runs: list[RunRecord], seeds: int = 1) -> list[Row]:
    study, variants = made_up_study(
        groups=[], variants=[MODEL, TWIN, "resnet18"], seeds=list(range(seeds))
    )
    return audit.audit_rows(study, variants, runs, results, read_ledger())


def twin_row(results: Path, runs: list[RunRecord], seeds: int = 1) -> Row:
    return next(r for r in rows_of(results, runs, seeds) if r["twin"] == TWIN)


def test_twins_that_start_alike_are_paired(tmp_path: Path):
    """What both owe to their seed cancels; McNemar's test is for one run each."""
    runs = runs_of(MODEL, 50.0, 60.0, 70.0) + runs_of(TWIN, 52.0, 61.0, 73.0)
    row = twin_row(tmp_path, runs, 3)
    assert (row["deviation"], row["variant"], row["n"]) == ("D1", MODEL, 3)
    assert (row["accuracy_with"], row["accuracy_without"]) == (60, 62)
    assert (row["interval_kind"], row["difference"]) == (PAIRED, 2)
    # 2 -+ 4.30265 * 1 / sqrt(3)
    assert row["low"] == pytest.approx(-0.484138, abs=1e-5)
    assert row["high"] == pytest.approx(4.484138, abs=1e-5)
    assert row["mcnemar_p"] == NOT_AVAILABLE
    assert row.reason("mcnemar_p") == audit.SEVERAL_SEEDS


def test_runs_of_which_the_first_weights_are_not_known_are_no_pairs(tmp_path: Path):
    """Older runs did not record them; that neither did is no agreement."""
    first, second = (
        runs_of(name, *accuracies, initial_weights=None)
        for name, accuracies in ((MODEL, (50.0, 60.0)), (TWIN, (52.0, 61.0)))
    )
    assert twin_row(tmp_path, first + second, 2)["interval_kind"] == WELCH


@pytest.mark.parametrize(
    "changes",
    [
        {"initial_weights": "another"},
        {"settings": SETTINGS | {"recipe": {"batch": 32}}},
        {"data_checksum": "other images"},
    ],
)
def test_runs_that_differ_in_more_than_the_model_are_no_pairs(tmp_path, changes):
    """Other weights, another recipe, other images: Welch's test."""
    runs = runs_of(MODEL, 50.0, 60.0) + runs_of(TWIN, 52.0, 61.0, **changes)
    assert twin_row(tmp_path, runs, 2)["interval_kind"] == WELCH


def test_a_run_that_failed_takes_its_pair_with_it_and_no_other(tmp_path: Path):
    """Means are of the pairs, so that they differ by the difference beside them."""
    broken = run_of(TWIN, 1, None, status="failed", initial_weights=None)
    runs = [*runs_of(MODEL, 50.0, 90.0, 70.0), run_of(TWIN, 0, 52.0), broken]
    row = twin_row(tmp_path, [*runs, run_of(TWIN, 2, 73.0)], 3)
    assert (row["interval_kind"], row["n"]) == (PAIRED, 2)
    assert (row["accuracy_with"], row["accuracy_without"]) == (60, 62.5)
    assert row["difference"] == 2.5


def test_twins_without_a_price_are_rows_that_say_why(tmp_path: Path):
    """All twins of the ledger stand in the table, whatever the study trains."""
    broken = run_of(TWIN, 0, None, status="diverged")
    rows = rows_of(tmp_path, [*runs_of(MODEL, 50.0), broken])
    twins = {row["twin"]: row for row in rows if row["twin"] != NOT_AVAILABLE}
    assert set(twins) == {n for e in read_ledger() for n in e.get("twins") or ()}
    assert {row["status"] for row in twins.values()} == {"not tested"}
    assert twins["vit-token"].reason("difference") == (
        "not in this study: vit, vit-token"
    )
    assert twins[TWIN].reason("difference") == (
        f"no run has an accuracy: {TWIN} (diverged)"
    )
    assert twins[TWIN]["accuracy_with"] == 50
    assert twins["vit-token"]["twin_label"] == "ViT (learned token)"


def test_every_cell_has_a_value_or_na_with_a_reason(tmp_path: Path):
    """Priced or not."""
    write_history(tmp_path, MODEL, 0, (40, 45))
    rows = rows_of(tmp_path, runs_of(MODEL, 50.0) + runs_of(TWIN, 55.0))
    assert rows
    for row in rows:
        cells = row.as_dict()
        assert set(cells) == set(COLUMNS)
        absent = {name for name, value in cells.items() if value == NOT_AVAILABLE}
        assert absent == set(split_reasons(cells["reason"]))


def test_a_ledger_that_names_no_twin_is_told(tmp_path: Path):
    """A misspelt name is no traceback."""
    study, variants = made_up_study()
    entry = {"id": "D1", "title": "x", "twins": ["resnet18"]}
    with pytest.raises(ConfigError, match="D1 names 'resnet18', which is no twin"):
        audit.audit_rows(study, variants, [], tmp_path, [entry])


# D3 and D4 -------------------------------------------------------------------


def write_history(results: Path, variant: str, seed: int, *evaluated: tuple) -> None:
    """Training mode and evaluation mode of each evaluated epoch, and others between."""
    folder = results / "runs" / variant / f"seed{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["epoch,test_accuracy_eval,test_accuracy_authors"]
    for epoch, (authors, own) in enumerate(evaluated):
        lines += [f"{2 * epoch + 1},{own},{authors}", f"{2 * epoch + 2},,"]
    (folder / "history.csv").write_text("\n".join(lines) + "\n")


def evaluation_rows(results: Path, *runs: RunRecord) -> dict[tuple[str, str], Row]:
    rows = rows_of(results, list(runs), 2)
    return {
        (row["deviation"], row["variant"]): row
        for row in rows
        if row["deviation"] in evaluations.EVALUATIONS
    }


def test_evaluations_of_the_same_runs_price_d3_and_d4(tmp_path: Path):
    """Last in training mode against last; best against last, not of the same epoch."""
    write_history(tmp_path, MODEL, 0, (30, 40), (44, 52), (45, 50))
    write_history(tmp_path, MODEL, 1, (30, 40), (44, 53), (46, 53))
    write_history(tmp_path, TWIN, 0, (30, 40))
    runs = runs_of(MODEL, 50.0, 53.0) + runs_of(TWIN, 40.0)
    rows = evaluation_rows(tmp_path, *runs, RunRecord("resnet18", 0, "missing"))
    models = (MODEL, "resnet18", evaluations.ALL)
    assert set(rows) == {(d, m) for d in ("D3", "D4") for m in models}
    cells = ("accuracy_with", "accuracy_without", "difference", "n", "interval_kind")
    assert [rows["D3", MODEL][c] for c in cells] == [45.5, 51.5, 6, 2, PAIRED]
    assert [rows["D4", MODEL][c] for c in cells] == [52.5, 51.5, -1, 2, PAIRED]
    assert rows["D3", "resnet18"].reason("difference") == "no evaluation (missing)"


def test_an_evaluation_that_did_not_fit_prices_no_d3(tmp_path: Path):
    """An older epoch does not stand in for the last one; D4 needs none of it."""
    write_history(tmp_path, MODEL, 0, (44, 52), ("", 50))
    rows = evaluation_rows(tmp_path, *runs_of(MODEL, 50.0))
    assert rows["D3", MODEL]["status"] == "not tested"
    assert rows["D4", MODEL]["difference"] == -2
    assert rows["D4", MODEL]["interval_kind"] == NO_INTERVAL


def test_the_row_of_all_models_is_paired_over_models(tmp_path: Path):
    """The mean of the models' own means, each once, and named as what it is."""
    write_history(tmp_path, MODEL, 0, (44, 50))
    write_history(tmp_path, MODEL, 1, (46, 52))
    write_history(tmp_path, "resnet18", 0, (70, 72))
    runs = runs_of(MODEL, 50.0, 52.0) + runs_of("resnet18", 72.0)
    row = evaluation_rows(tmp_path, *runs)["D3", evaluations.ALL]
    assert (row["difference"], row["n"]) == (4, 2)  # of 6 and 2
    assert row["interval_kind"] == evaluations.OVER_MODELS
    assert row["accuracy_with"] == 57.5  # of 45 and 70
    alone = evaluation_rows(tmp_path, *runs_of(MODEL, 50.0))["D3", evaluations.ALL]
    assert (alone["status"], alone["accuracy_with"]) == ("not tested", NOT_AVAILABLE)


# Image by image --------------------------------------------------------------

LABELS = np.arange(10)


def write_predictions(results: Path, variant: str, wrong: list[int], labels=LABELS):
    """Predictions that are right but for some images."""
    folder = results / "runs" / variant / "seed0"
    folder.mkdir(parents=True, exist_ok=True)
    predicted = labels.copy()
    predicted[wrong] += 1
    np.savez(folder / "predictions.npz", label=labels, prediction=predicted)


def compared(results: Path) -> dict[tuple[str, str], dict[str, str]]:
    names = [MODEL, TWIN, f"ha-{MODEL}", f"ha-{TWIN}"]
    study, variants = made_up_study(groups=[], variants=names)
    compare_predictions(study, variants, results)
    rows = read_table(results / "measure" / "agreement.csv")
    return {(row["variant"], row["other"]): row for row in rows}


def counts(row: dict[str, str]) -> list[str]:
    return [row[name] for name in COUNTS]


def test_images_are_compared_one_by_one(tmp_path: Path):
    """Every variant with its model and its ordinary version; numbers by hand."""
    write_predictions(tmp_path, MODEL, [0, 1, 2])
    write_predictions(tmp_path, TWIN, [2, 3])
    write_predictions(tmp_path, f"ha-{MODEL}", [0], LABELS[::-1].copy())
    rows = compared(tmp_path)
    assert set(rows) == {
        (TWIN, MODEL),
        (f"ha-{MODEL}", MODEL),
        (f"ha-{TWIN}", f"ha-{MODEL}"),
        (f"ha-{TWIN}", TWIN),
    }
    assert counts(rows[TWIN, MODEL]) == ["6", "2", "1", "1"]
    assert counts(rows[f"ha-{MODEL}", MODEL]) == [NOT_AVAILABLE] * 4
    assert "tested on other images" in rows[f"ha-{MODEL}", MODEL]["reason"]
    missing = rows[f"ha-{TWIN}", TWIN]
    assert f"no predictions of ha-{TWIN}, seed 0, are kept" in missing["reason"]


def test_one_seed_is_tested_image_by_image(tmp_path: Path):
    """1 image for the model alone, 2 for its twin alone: a coin thrice, p = 1."""
    write_predictions(tmp_path, MODEL, [0, 1, 2])
    write_predictions(tmp_path, TWIN, [2, 3])
    compared(tmp_path)
    row = twin_row(tmp_path, runs_of(MODEL, 70.0) + runs_of(TWIN, 80.0))
    found = [row[name] for name in ("only_with_right", "only_without_right")]
    assert (found, row["mcnemar_p"]) == ([1, 2], 1.0)
    assert row["interval_kind"] == OVER_IMAGES


def test_what_was_compared_outlives_the_predictions(tmp_path: Path):
    """Committed results have none; a second comparison forgets nothing."""
    for name in (MODEL, TWIN):
        write_predictions(tmp_path, name, [2])
    before = compared(tmp_path)
    (tmp_path / "runs" / TWIN / "seed0" / "predictions.npz").unlink()
    assert compared(tmp_path) == before
    write_predictions(tmp_path, TWIN, [])
    assert counts(compared(tmp_path)[TWIN, MODEL]) == ["9", "1", "0", "0"]


@pytest.mark.parametrize("content", ["", "variant,other\na,b\n", "variant,ot"])
def test_a_torn_comparison_is_told_and_made_again(tmp_path: Path, content: str):
    """The remedy that the message names works."""
    path = tmp_path / "study" / "measure" / "agreement.csv"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(ReattnError, match="python -m reattn agreement study"):
        rows_of(path.parents[1], [])
    assert (TWIN, MODEL) in compared(path.parents[1])


def test_the_verb_writes_the_table(project: Path):
    """By hand and from the workflow: `python -m reattn agreement STUDY`."""
    done = CliRunner().invoke(app, ["agreement", "d1-cpu"])
    assert done.exit_code == 0, done.output
    rows = read_table(project / "results" / "d1-cpu" / "measure" / "agreement.csv")
    assert len(rows) == 8 * 4


def test_a_price_is_told_by_the_authors_protocol_too(tmp_path: Path) -> None:
    """Where evaluation mode ruins a model, the other protocol tells what it learned."""
    made = {
        "ha-san-pairwise": {"accuracy": 10.0, "accuracy_authors": 50.0},
        "ha-san-pairwise-pre-activation": {"accuracy": 10.0, "accuracy_authors": 58.0},
    }
    for name, metrics in made.items():
        write_run(tmp_path, name, evaluation_images=1000, **metrics)
    study, variants = made_up_study(groups=["report", "audit"])
    make_tables(study, variants, tmp_path)
    rows = read_table(tmp_path / "tables" / "audit.csv")
    row = next(r for r in rows if r["twin"] == "ha-san-pairwise-pre-activation")
    assert (row["difference"], row["authors_difference"]) == ("0.0", "8.0")
    # Wider than the headline's, for it is taken on a tenth of the images.
    width = float(row["authors_high"]) - float(row["authors_low"])
    assert width > 2 * (float(row["high"]) - float(row["low"]))


def test_deviations_without_a_twin_are_cited_beside_their_models(tmp_path: Path):
    """A label tells every deviation in its numbers, and where to read of it."""
    study, variants = made_up_study()
    make_all_tables(study, variants, tmp_path)
    context = read_context(NAME, study, variants, tmp_path, ROOT)
    assert context.deviations_in("ha-vit") == {
        **{"D7": "priced", "D8": "priced"},
        "D9": "ledger",
    }
    assert context.deviations_in("resnet18") == {"D14": "ledger"}
    assert context.deviations_in("no-such-model") == {}
    families = {variant.model.family for variant in variants.values()}
    named = {f for entry in context.deviations for f in entry.get("families", ())}
    assert named <= families
