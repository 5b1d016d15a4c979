"""Checkpoints of the authors' own code, taken into a study by the command line."""

import json
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
import torch
from conftest import TINY, write_study
from finished_project import call

from reattn.config.runs import find_run
from reattn.models.build import build_model
from reattn.models.checkpoints import authors_state
from reattn.training.accuracy import log_probabilities, percent_correct
from reattn.training.randomness import derived_seed
from reattn.training.sets import open_sets


def reattn(*arguments: str) -> subprocess.CompletedProcess:
    """Run a verb on the test's project, in this process, which has torch already."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as said:
        status = call(*arguments)
    return subprocess.CompletedProcess(
        arguments, status, out.getvalue(), said.getvalue()
    )


@pytest.fixture
def study(project: Path) -> str:
    """A study of two variants with its data prepared."""
    name = write_study(project, variants=["vit", "san-pairwise"])
    assert reattn("prepare", name).returncode == 0
    return name


@pytest.mark.parametrize("variant_id", ["vit", "san-pairwise"])
def test_a_checkpoint_can_be_imported_and_used(project, study, variant_id):
    """Its status is `imported`; it is evaluated, and its attention is drawn."""
    run = find_run(study, variant_id, 0)
    model = build_model(run.variant, image_size=16)
    checkpoint = project / "best_model.ckpt"
    torch.save(authors_state(model), checkpoint)
    done = reattn("import", variant_id, str(checkpoint), "--study", study)
    assert done.returncode == 0, done.stderr
    metrics = json.loads((run.folder / "metrics.json").read_text())
    status = json.loads((run.folder / "status.json").read_text())
    test = open_sets(run, torch.device("cpu")).test
    outputs = log_probabilities(model, test, derived_seed(0, "test"))
    assert status["status"] == metrics["status"] == "imported"
    assert "best_model.ckpt" in status["reason"]
    expected = percent_correct(outputs, test.labels.numpy())
    assert metrics["accuracy"] == pytest.approx(expected)
    for verb in ("evaluate", "attention", "figures"):
        done = reattn(verb, study, variant_id)
        assert done.returncode == 0, done.stderr
    assert reattn("tables", study).returncode == 0
    table = (project / "results" / study / "tables" / "models.csv").read_text()
    assert ",imported," in table


def test_neither_a_run_nor_an_import_is_overwritten_unasked(project, study):
    """Nothing that was computed is lost to a verb's default."""
    run = find_run(study, "vit", 0)
    checkpoint = project / "best_model.ckpt"
    torch.save(authors_state(build_model(run.variant, image_size=16)), checkpoint)
    command = ("import", "vit", str(checkpoint), "--study", study)
    assert reattn(*command).returncode == 0
    done = reattn(*command)
    assert done.returncode == 2
    assert "--replace" in done.stderr
    assert reattn(*command, "--replace").returncode == 0
    done = reattn("train", study, "vit")
    assert done.returncode == 2
    assert "imported weights" in done.stderr


FAULTS = {
    "another variant": ("san-pairwise", "is it of another variant?"),
    "not a checkpoint": (None, "best_model.ckpt"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_checkpoint_that_does_not_fit_is_refused(project, study, case):
    """One message, no traceback, nothing written."""
    source, said = FAULTS[case]
    checkpoint = project / "best_model.ckpt"
    if source:
        variant = find_run(study, source, 0).variant
        torch.save(authors_state(build_model(variant, image_size=16)), checkpoint)
    else:
        checkpoint.write_text("<html>not found</html>")
    done = reattn("import", "vit", str(checkpoint), "--study", study)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not find_run(study, "vit", 0).folder.exists()


BAD_COMMANDS = {
    "unknown study": (["train", "demmo", "vit"], "Did you mean demo?"),
    "unknown variant": (["train", "tiny", "vitt"], "no run vitt"),
    "seed not in the study": (["train", "tiny", "vit", "--seed", "7"], "Its seeds: 0"),
    "no weights": (["evaluate", "tiny", "vit"], "Train tiny/vit/seed0 first"),
    "no arrays": (["figures", "tiny", "vit"], "extract the attention first"),
    "no such charts": (["charts", "tiny", "pies"], "known: diagrams"),
    "no checkpoint": (["import", "vit", "nowhere", "--study", "tiny"], "nowhere"),
    "digits from a folder": (
        ["prepare", "tiny", "--data-path", "."],
        "from scikit-learn",
    ),
    "no images": (["prepare", "tiny", "--data-path", "nowhere"], "nowhere"),
}


@pytest.mark.parametrize("case", BAD_COMMANDS)
def test_a_bad_command_is_one_message(project: Path, case: str):
    """What is wrong and what to do; exit status 2, no traceback."""
    arguments, said = BAD_COMMANDS[case]
    source = {"source": "image-folder" if "nowhere" in arguments else "digits"}
    name = write_study(project, data={**TINY["data"], **source})
    if "--data-path" not in arguments:
        write_study(project)
        reattn("prepare", name)
    done = reattn(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
