"""What makes a training run again: content, never dates, layout or a fresh clone."""

import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import (
    TINY,
    copy_project,
    run_snakemake,
    with_constructed_task,
    write_study,
)
from filelock import FileLock

from reattn.config.freshness import setting_changes
from reattn.config.runs import runs_of

DEMO = ("--config", "study=demo")


def planned(project: Path, *arguments: str) -> tuple[set[str], list[str], str]:
    """Rules that a dry run lists, the runs that it trains, and all that it says."""
    done = run_snakemake(project, "-n", *(arguments or DEMO))
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    rules = {line.split()[0] for line in re.findall(r"^\w+ +\d+$", said, re.M)}
    trained = sorted(set(re.findall(r"Training ([\w-]+), seed \d+", said)))
    return rules - {"total", "default", "all"}, trained, said


def copied(demo: Path, destination: Path, *, metadata: bool = True) -> Path:
    """The demo and its results in another folder."""
    left_out = shutil.ignore_patterns(
        "__pycache__", *([] if metadata else [".snakemake"])
    )
    shutil.copytree(demo, destination, ignore=left_out)
    return destination


def touch_everything(project: Path) -> None:
    """Give every file a date of its own, in no order that means anything."""
    files = sorted(p for p in project.rglob("*") if ".snakemake" not in p.parts)
    random.Random(0).shuffle(files)
    for age, path in enumerate(files):
        os.utime(path, (2e9 - age, 2e9 - age))


def reattn(project: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run a verb of the project's own code."""
    return subprocess.run(
        [sys.executable, "-m", "reattn", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project / "src")},
        capture_output=True,
        text=True,
    )


def replace(path: Path, old: str, new: str) -> None:
    """Edit a file; fail where there is nothing to edit."""
    text = path.read_text()
    assert old in text, (path, old)
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize("metadata", [True, False])
def test_touching_everything_trains_and_measures_nothing(demo, tmp_path, metadata):
    """Case D04: with Snakemake's memory and without it, as in a fresh clone."""
    project = copied(demo, tmp_path / "project", metadata=metadata)
    touch_everything(project)
    rules, trained, _ = planned(project)
    assert not trained
    assert not rules & {"train_model", "prepare_data", "measure_models"}


@pytest.mark.parametrize("gone", ["images.npy", "data.json"])
def test_preparing_the_images_again_trains_nothing(demo, tmp_path, gone):
    """A clone without arrays prepares them where needed; finished runs stay."""
    project = copied(demo, tmp_path / "project", metadata=False)
    (project / "results" / "demo" / "data" / gone).unlink()
    for folder in ("attention", "figures", "report"):
        shutil.rmtree(project / "results" / "demo" / folder)
    rules, trained, _ = planned(project)
    assert "prepare_data" in rules
    assert not trained


@pytest.mark.parametrize("metadata", [True, False])
def test_a_changed_setting_trains_exactly_its_run(demo, tmp_path, metadata):
    """And the dry run says which setting it was, and its two values."""
    project = copied(demo, tmp_path / "project", metadata=metadata)
    vit = project / "config" / "variants" / "vit.yaml"
    replace(vit, "learning_rate: 0.01", "learning_rate: 0.02")
    _, trained, said = planned(project)
    assert trained == ["vit"]
    assert "recipe.learning_rate was 0.01, is 0.02" in said


def test_layout_of_rules_trains_nothing(demo, tmp_path):
    """Case D04: whitespace, comments, threads, logs and messages of the rule."""
    project = copied(demo, tmp_path / "project")
    rule = project / "workflow" / "rules" / "train.smk"
    replace(rule, "logs/train_model/", "logs/trainings/")
    replace(rule, "threads: SETTINGS.training.threads", "threads: 2")
    replace(rule, '"Training {wild', '"A training: {wild')
    replace(rule, "reattn train {params", "reattn  train  {params")
    rule.write_text("# A comment.\n" + rule.read_text())
    rules, _, _ = planned(project)
    assert "train_model" not in rules


def test_other_images_in_the_same_folder_train_again(tmp_path):
    """A moved folder is the same data; one more image makes it another."""
    from test_workflow import picture_folder

    project = copy_project(tmp_path / "project")
    images = picture_folder(tmp_path / "images", 10)
    write_study(
        project,
        data={"source": "image-folder", "image_size": 16},
        variants=["vit"],
        training={**TINY["training"], "epoch_images": 2, "evaluation_images": "all"},
    )
    target = "results/tiny/runs/vit/seed0/metrics.json"
    call = ("--cores", "1", target, "--config", "study=tiny")
    done = run_snakemake(project, *call, f"data_path={images}")
    assert done.returncode == 0, done.stdout + done.stderr
    moved = images.rename(tmp_path / "elsewhere")
    assert not planned(project, *call, f"data_path={moved}")[0]
    shutil.copy(moved / "train" / "cat" / "0.png", moved / "train" / "cat" / "1.png")
    rules, trained, said = planned(project, *call, f"data_path={moved}")
    assert (rules, trained) == ({"prepare_data", "train_model"}, ["vit"])
    assert "other images" in said


# Stale: trained by other code


def rows(project: Path, table: str) -> dict[str, dict[str, str]]:
    """Rows of a table of the demo by variant."""
    path = project / "results" / "demo" / "tables" / f"{table}.csv"
    with path.open(newline="") as file:
        return {row["variant"]: row for row in csv.DictReader(file)}


def test_edited_code_marks_its_runs_stale_and_trains_nothing(demo, tmp_path):
    """Tables and report say so beside the numbers, with the command that mends it."""
    project = copied(demo, tmp_path / "project")
    source = project / "src" / "reattn" / "models" / "vit.py"
    source.write_text(source.read_text() + "\nOTHER = 1\n")
    rules, _, said = planned(project)
    assert {"make_tables", "write_report"} <= rules
    assert "train_model" not in rules
    assert "Trained by other code than today's: vit/seed0, ha-vit/seed0" in said
    assert "python -m reattn retry demo --stale" in said
    done = reattn(project, "report", "demo")
    assert done.returncode == 0, done.stderr
    models = rows(project, "models")
    stale = {name for name, row in models.items() if row["status"] == "stale"}
    assert stale == {"vit", "ha-vit"}
    assert float(models["vit"]["accuracy_mean"]) > 0
    assert "retry demo vit/seed0" in models["vit"]["status_reason"]
    text = (project / "results" / "demo" / "report" / "report.md").read_text()
    assert "2 of 20 runs are stale" in text
    again = "`python -m reattn retry demo --stale` and then `snakemake --config study="
    assert again in text
    done = reattn(project, "retry", "demo", "--stale")
    assert done.stdout.count("starts afresh") == 2
    assert planned(project)[1] == ["ha-vit", "vit"]


def test_comments_and_layout_of_code_make_nothing_stale(demo, tmp_path):
    """The digest is of what the code does."""
    project = copied(demo, tmp_path / "project")
    source = project / "src" / "reattn" / "models" / "vit.py"
    source.write_text(f"# A comment.\n{source.read_text()}\n\n\n")
    loop = project / "src" / "reattn" / "training" / "loop.py"
    replace(loop, '"""Trains a run', '"""Really trains a run')
    assert reattn(project, "tables", "demo").returncode == 0
    assert {row["status"] for row in rows(project, "models").values()} == {"ok"}


# Failures and their second chance


def test_retry_reopens_failed_runs_and_keeps_what_they_left(demo, tmp_path):
    """The report prints the command; the next call trains exactly those."""
    project = copied(demo, tmp_path / "project")
    folder = project / "results" / "demo" / "runs" / "vit" / "seed0"
    for name, change in (
        ("metrics.json", {"status": "diverged", "accuracy": None}),
        ("status.json", {"status": "diverged", "reason": "the loss is nan"}),
    ):
        content = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(content | change))
    assert not planned(project)[1]
    assert reattn(project, "report", "demo").returncode == 0
    text = (project / "results" / "demo" / "report" / "report.md").read_text()
    assert "`python -m reattn retry demo vit/seed0`" in text
    done = reattn(project, "retry", "demo")
    assert "vit/seed0 (diverged) goes on after its last good epoch" in done.stdout
    kept = project / "results/demo/work/vit/seed0/set-aside-1/status.json"
    assert json.loads(kept.read_text())["reason"] == "the loss is nan"
    assert planned(project)[1] == ["vit"]
    assert "No run to reopen" in reattn(project, "retry", "demo").stdout
    done = reattn(project, "retry", "demo", "vitt/seed0")
    assert done.returncode == 2
    assert "Did you mean vit/seed0?" in done.stderr


KILLED_VIT = """
import os
train_others = train_run


def train_run(run):
    if run.variant_id == "vit":
        os.kill(os.getpid(), 9)
    return train_others(run)
"""


def test_a_killed_training_still_gives_a_report(tmp_path):
    """Case D08: what exists is reported, the rest is missing; then the call goes on."""
    project = copy_project(tmp_path / "project")
    write_study(project)
    with_constructed_task(project, "tiny")
    run = project / "src" / "reattn" / "training" / "run.py"
    healthy = run.read_text()
    run.write_text(healthy + KILLED_VIT)
    call = ("--cores", "2", "--config", "study=tiny")
    done = run_snakemake(project, *call)
    assert done.returncode != 0
    report = project / "results" / "tiny" / "report"
    text = (report / "report.md").read_text()
    assert (report / "report.pdf").stat().st_size > 0
    assert "1 of 2 runs is missing" in text
    assert "the run has not been made" in text
    run.write_text(healthy)
    done = run_snakemake(project, *call)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert set(re.findall(r"Training ([\w-]+), seed", said)) == {"vit"}
    assert "runs is missing" not in (report / "report.md").read_text()


def test_a_report_by_hand_does_not_end_a_study(demo, tmp_path):
    """What was missing in it is still made by the next call."""
    project = copied(demo, tmp_path / "project")
    results = project / "results" / "demo"
    for folder in ("attention", "figures", "measure", "tables", "report"):
        shutil.rmtree(results / folder)
    done = reattn(project, "report", "demo")
    assert "Absent: measurements" in done.stdout
    rules, trained, _ = planned(project)
    assert {"measure_models", "save_attention", "write_report"} <= rules
    assert not trained


@pytest.mark.parametrize("name", ["metrics.json", "status.json"])
@pytest.mark.parametrize("content", [None, "{"])
def test_a_run_that_cannot_be_read_is_trained_again(demo, tmp_path, name, content):
    """Case D08: a file of a run that is gone or torn is no dead end."""
    project = copied(demo, tmp_path / "project")
    path = project / "results" / "demo" / "runs" / "vit" / "seed0" / name
    path.write_text(content) if content else path.unlink()
    assert planned(project)[1] == ["vit"]


def test_results_that_are_kept_without_weights_train_nothing(demo, tmp_path):
    """As in a clone of a committed study: attention says why there is none."""
    project = copied(demo, tmp_path / "project", metadata=False)
    results = project / "results" / "demo"
    for path in results.glob("runs/*/*/model.pt"):
        path.unlink()
    for folder in ("attention", "figures", "report", "data"):
        shutil.rmtree(results / folder)
    rules, trained, _ = planned(project)
    assert "save_attention" in rules
    assert not trained
    assert reattn(project, "prepare", "demo").returncode == 0
    done = reattn(project, "attention", "demo", "vit")
    assert "The weights of ViT are not kept here." in done.stderr


def test_imported_weights_are_never_trained_over(demo, tmp_path):
    """Where they are gone, the call stops and says how to bring them back."""
    project = copied(demo, tmp_path / "project")
    results = project / "results" / "demo"
    folder = results / "runs" / "vit" / "seed0"
    for name in ("status.json", "metrics.json"):
        content = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(content | {"status": "imported"}))
    vit = project / "config" / "variants" / "vit.yaml"
    replace(vit, "learning_rate: 0.01", "learning_rate: 0.02")
    assert not planned(project)[1]
    (folder / "history.csv").unlink()
    for part in ("attention/vit.npz", "figures", "report"):
        path = results / part
        path.unlink() if path.is_file() else shutil.rmtree(path)
    done = run_snakemake(project, "-n", *DEMO)
    assert done.returncode != 0
    assert "python -m reattn import vit" in done.stdout + done.stderr


def test_a_new_setting_at_its_default_changes_nothing():
    """Code that learns another switch does not send every study into training."""
    run = runs_of("demo")[0]
    settings = json.loads(json.dumps(run.settings))
    del settings["training"]["micro_batch"]
    before = {"fingerprint": "of older code", "settings": settings}
    assert run.study.training.micro_batch == "auto"
    assert setting_changes(run, before) == []
    settings["training"]["precision"] = "bf16"
    changes = setting_changes(run, before)
    assert changes == ["training.precision was bf16, is fp32"]


# Calls that mean something else than they say


def test_one_snakemake_a_study(demo):
    """A second one is refused while the first lives; looking is always allowed."""
    lock = demo / "results" / "demo" / "work" / "workflow.lock"
    target = "results/demo/tables/models.csv"
    call = ("--cores", "1", "--forcerun", target, "--config", "study=demo")
    with FileLock(lock):
        retried = reattn(demo, "retry", "demo", "vit")
        done = run_snakemake(demo, *call)
        planned(demo)
    assert done.returncode != 0
    assert "Another snakemake works on study demo" in done.stdout + done.stderr
    assert retried.returncode == 2
    assert "Another snakemake works on study demo" in retried.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--config", "stdy=demo"),
            "--config stdy: there is no such key. Did you mean",
        ),
        (("--resources", "gpus=2"), "resource gpus: no job asks for it"),
        (("--resources", "nvidia_gpu=2"), "resource nvidia_gpu: no job"),
        (("--default-resources", "gpus=1"), "resource gpus: no job asks for it"),
        (("--set-resources", "train_model:gpus=1"), "resource gpus: no job asks"),
        (("--resources", "gpu=0"), "gpu=0 would let all GPU jobs start at once"),
    ],
)
def test_what_snakemake_would_ignore_is_refused(demo, arguments, words):
    """Case D02: a misspelt key limits nothing, and would never be noticed."""
    done = run_snakemake(demo, "-n", *arguments)
    assert done.returncode != 0
    assert words in done.stdout + done.stderr


def test_a_default_profile_without_its_triggers_would_be_noticed():
    """An edit of code must never start days of training by itself."""
    profile = yaml.safe_load(Path("profiles/default/profile.yaml").read_text())
    assert set(profile["rerun-triggers"]) == {"mtime", "params"}
    assert profile["nolock"] is True


def gpu_study(project: Path) -> None:
    """Two runs that need a card each."""
    write_study(project, training={**TINY["training"], "device": "gpu"})


@pytest.mark.parametrize(
    ("slots", "words"),
    [
        (("--resources", "mem_mb=90000"), "No number of GPUs is given: one GPU job"),
        (("--resources", "gpu=3"), "gpu=3 asked, 1 card visible"),
    ],
)
def test_slots_that_are_not_given_or_not_there_are_told(tmp_path, slots, words):
    """Never unlimited, and never more at once than there are cards."""
    project = copy_project(tmp_path / "project")
    gpu_study(project)
    runs = [f"results/tiny/runs/{v}/seed0/metrics.json" for v in TINY["variants"]]
    done = run_snakemake(
        *(project, "--cores", "2", *slots, "--config", "study=tiny", "--", *runs),
        REATTN_PRETENDED_CARDS="card-a",
        REATTN_LEASES=str(tmp_path / "leases"),
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert words in said
    metrics = project.glob("results/tiny/runs/*/*/metrics.json")
    assert {json.loads(m.read_text())["device"].split()[-1] for m in metrics} == {
        "card-a"
    }
