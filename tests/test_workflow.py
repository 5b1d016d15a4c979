"""The workflow: what it would run and why, what it refuses, and a whole demo."""

import csv
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from browser import opened
from conftest import ROOT, copy_project, run_snakemake

from reattn.config import load_resolved, load_variants
from reattn.config.runs import runs_of

BIN = Path(sys.executable).parent


def planned(project: Path, *arguments: str) -> dict[str, int]:
    """How many jobs of each rule a dry run lists."""
    done = run_snakemake(project, "-n", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    if not any(line.startswith("Job stats:") for line in lines):
        return {}
    start = next(n for n, line in enumerate(lines) if line.startswith("Job stats:"))
    jobs = {}
    for line in lines[start + 3 :]:
        name, _, count = line.rpartition(" ")
        if not count.isdigit():
            break
        jobs[name.strip()] = int(count)
    return jobs


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """A copy of the project without results."""
    return copy_project(tmp_path_factory.mktemp("clone") / "project")


@pytest.mark.parametrize("snakefile", ["Snakefile", "workflow/Snakefile"])
def test_both_snakefiles_list_the_training_jobs(clone: Path, snakefile: str):
    """A target inside an included file is not the default target."""
    jobs = planned(clone, "-s", snakefile)
    assert jobs["train_model"] == 48
    assert jobs["write_report"] == 1


def test_the_default_study_is_the_paper(clone: Path):
    """Plain snakemake builds what the report is about."""
    assert planned(clone) == planned(clone, "--config", "study=paper")


@pytest.mark.parametrize("study", ["paper", "demo"])
def test_lint_and_format_are_clean(clone: Path, study: str):
    """Snakemake's own linter and formatter find nothing."""
    done = run_snakemake(clone, "--lint", "--config", f"study={study}")
    assert done.returncode == 0, done.stdout + done.stderr
    command = [BIN / "snakefmt", "--check", "Snakefile", "workflow"]
    assert subprocess.run(command, cwd=clone, capture_output=True).returncode == 0


def test_a_gpu_study_stops_before_any_work_without_a_gpu(clone: Path):
    """It says what it saw and which commands work here; nothing is made."""
    done = run_snakemake(clone, "--cores", "1", CUDA_VISIBLE_DEVICES="")
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "no usable GPU" in said
    for fact in ("driver:", "torch:", "CUDA_VISIBLE_DEVICES: empty", "study=demo"):
        assert fact in said, fact
    assert "Traceback" not in said
    assert not (clone / "results").exists()


@pytest.mark.parametrize("option", ["-n", "--lint", "--unlock"])
def test_what_does_no_work_needs_no_gpu(clone: Path, option: str):
    """A reviewer may look at the paper study on a laptop."""
    done = run_snakemake(clone, option, CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_fault_in_the_configuration_ends_the_parsing(clone: Path):
    """One message, no traceback of ours, nothing made."""
    done = run_snakemake(clone, "-n", "--config", "study=demmo")
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "Did you mean demo?" in said
    assert "Traceback" not in said


def test_a_folder_study_asks_for_its_images(clone: Path):
    """Before anything runs, with the option that names them."""
    done = run_snakemake(clone, "-n", "--config", "study=cifar10-cpu")
    assert done.returncode != 0
    assert "data_path=PATH" in done.stdout + done.stderr


def test_jobs_run_the_code_of_their_own_clone(tmp_path: Path):
    """Another copy may be installed; the commit of a result is that of its clone."""
    project = copy_project(tmp_path / "project")
    main = project / "src" / "reattn" / "__main__.py"
    main.write_text(f'print("code of this clone")\n{main.read_text()}')
    target = "results/demo/data/data.json"
    done = run_snakemake(
        project, "--cores", "1", target, "--config", "study=demo", PYTHONPATH=""
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "code of this clone" in done.stdout + done.stderr


def picture_folder(folder: Path, value: int) -> Path:
    """A tiny tree of images of two classes."""
    from PIL import Image

    for part, name in itertools.product(("train", "test"), ("cat", "dog")):
        (folder / part / name).mkdir(parents=True)
        picture = Image.linear_gradient("L").resize((16, 16)).convert("RGB")
        picture.putpixel((0, 0), (value, 0, 0))
        picture.save(folder / part / name / "0.png")
    return folder


def test_another_data_path_is_noticed_and_the_last_one_remembered(tmp_path: Path):
    """Prepared images are those that were asked for; asking once is enough."""
    project = copy_project(tmp_path / "project")
    first = picture_folder(tmp_path / "one", 10)
    second = picture_folder(tmp_path / "two", 200)
    study = project / "config" / "studies" / "demo.yaml"
    study.write_text(
        study.read_text().replace("source: digits", "source: image-folder")
    )
    facts = "results/demo/data/data.json"
    done = run_snakemake(
        *(project, "--cores", "1", facts, "--config", "study=demo"),
        f"data_path={first}",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = planned(project, facts, "--config", "study=demo", f"data_path={first}")
    assert told == planned(project, facts, "--config", "study=demo") == {}
    jobs = planned(project, facts, "--config", "study=demo", f"data_path={second}")
    assert jobs == {"prepare_data": 1, "total": 1}


# A whole demo, run once


def test_the_demo_makes_both_reports(demo: Path):
    """And everything that the design promises beside them."""
    results = demo / "results" / "demo"
    for name in (
        *("report/report.html", "report/report.pdf", "report/report.md"),
        *("report/manifest.json", "tables/models.csv", "tables/runs.csv"),
        *("measure/measurements.csv", "data/data.json"),
    ):
        assert (results / name).stat().st_size > 0, name
    assert (results / "report" / "report.pdf").read_bytes()[:5] == b"%PDF-"


def test_the_demo_trains_all_sixteen_and_the_twins_of_d1(demo: Path):
    """Every row is measured, and says that it is a demonstration's."""
    with (demo / "results" / "demo" / "tables" / "models.csv").open() as file:
        rows = list(csv.DictReader(file))
    twins = [n for n, v in load_variants().items() if v.deviation == "D1"]
    expected = [*load_resolved("paper")[1], *twins]
    assert [row["variant"] for row in rows] == expected
    for row in rows:
        assert row["status"] == "ok", row
        assert 0 < float(row["accuracy_mean"]) <= 100
        assert float(row["wall_time_ms_mean"]) > 0
    html = (demo / "results" / "demo" / "report" / "report.html").read_text()
    reduced = load_resolved("demo")[0].reduced
    assert reduced.split(",")[0] in html


def test_a_finished_study_has_nothing_to_do(demo: Path):
    """The second call ends at once."""
    done = run_snakemake(demo, "--cores", "2", "--config", "study=demo")
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_touching_data_and_weights_retrains_nothing(demo: Path):
    """Case D04: what counts is content."""
    results = demo / "results" / "demo"
    before = {path: path.stat() for path in results.glob("data/*")}
    for path in before:
        path.touch()
    jobs = planned(demo, "--config", "study=demo")
    for path, stat in before.items():
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert "train_model" not in jobs


@pytest.mark.parametrize(
    ("path", "rules"),
    [
        ("report/sections/01-introduction.md.j2", {"write_report"}),
        ("src/reattn/report/numbers.py", {"write_report"}),
        ("src/reattn/figures/style.py", {"draw_attention", "draw_charts"}),
        ("src/reattn/training/loop.py", set()),
    ],
)
def test_edits_rerun_only_what_shows_them(demo: Path, path: str, rules: set):
    """Case D04: prose and style cost seconds, never days of training."""
    file = demo / path
    content, stat = file.read_text(), file.stat()
    comment = "<# an edit #>\n" if path.endswith("j2") else "# an edit\n"
    file.write_text(content + comment)
    jobs = planned(demo, "--config", "study=demo")
    file.write_text(content)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert rules <= jobs.keys()
    assert not jobs.keys() & {"train_model", "measure_models", "save_attention"}


def test_changing_one_variant_retrains_that_variant_alone(demo: Path):
    """The fingerprint in the rule's params decides, run by run."""
    file = demo / "config" / "variants" / "vit.yaml"
    content = file.read_text()
    file.write_text(content.replace("learning_rate: 0.01", "learning_rate: 0.02"))
    done = run_snakemake(demo, "-n", "--config", "study=demo")
    file.write_text(content)
    training = [line for line in done.stdout.splitlines() if "Training" in line]
    assert len(training) == 1, training
    assert "Training vit, seed 0." in training[0]
    assert "recipe.learning_rate was 0.01, is 0.02" in done.stdout + done.stderr


def test_snakemake_s_own_report_shows_the_page(demo: Path, browser):
    """With captions and categories, in one file, and our page inside of it."""
    path = demo / "results" / "demo" / "snakemake.html"
    done = run_snakemake(demo, "--config", "study=demo", "--report", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    text = path.read_text().replace("\\u0020", " ")
    assert "Every variant of study demo" in text
    with opened(browser, path) as found:
        found.page.get_by_role("link", name="Report", exact=True).last.click()
        row = found.page.get_by_role("row").filter(has_text="web page")
        row.locator("a").first.click()
        inside = found.page.frame_locator("iframe")
        inside.locator("#content").wait_for()
        assert "Self-Attention" in inside.locator("h1").first.inner_text()
        assert not found.requests


def test_a_diverged_run_does_not_stop_the_report(demo: Path):
    """Case D08: its row says so, with the reason, and no cell is a false zero."""
    run = demo / "results" / "demo" / "runs" / "vit" / "seed0"
    kept = {path: path.read_bytes() for path in run.iterdir()}
    metrics = json.loads((run / "metrics.json").read_text())
    metrics |= {"status": "diverged", "accuracy": None, "accuracy_authors": None}
    (run / "metrics.json").write_text(json.dumps(metrics))
    status = {"status": "diverged", "reason": "the loss is nan in epoch 2, step 7"}
    (run / "status.json").write_text(json.dumps({**status, "epoch": 1}))
    try:
        for verb in ("attention demo vit", "figures demo vit", "tables demo"):
            assert reattn(demo, *verb.split()).returncode == 0
        done = reattn(demo, "report", "demo")
        assert done.returncode == 0, done.stderr
        markdown = (demo / "results" / "demo" / "report" / "report.md").read_text()
    finally:
        for path, content in kept.items():
            path.write_bytes(content)
        run_snakemake(demo, "--cores", "2", "--config", "study=demo")
    assert "the loss is nan in epoch 2, step 7" in markdown


def reattn(project: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run a verb in a project."""
    environment = {**os.environ, "PYTHONPATH": str(project / "src")}
    return subprocess.run(
        [sys.executable, "-m", "reattn", *arguments],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
    )


def test_the_manifest_is_true(demo: Path):
    """Every file that it lists has the size and the digest that it says."""
    from reattn.files import sha256_of

    results = demo / "results" / "demo"
    manifest = json.loads((results / "report" / "manifest.json").read_text())
    files = manifest["files"] if isinstance(manifest, dict) else manifest
    names = {entry["path"] for entry in files}
    assert {"report/report.html", "report/report.pdf", "tables/models.csv"} <= names
    for entry in files:
        path = results / entry["path"]
        assert (path.stat().st_size, sha256_of(path)) == (
            entry["size"],
            entry["sha256"],
        )


def test_evaluation_agrees_with_the_recorded_accuracy(demo: Path):
    """The verb by hand gives the number of the table."""
    metrics = json.loads(
        (demo / "results/demo/runs/vit/seed0/metrics.json").read_text()
    )
    done = reattn(demo, "evaluate", "demo", "vit")
    assert done.stdout.strip() == f"{metrics['accuracy']:.2f} %"


def test_every_number_of_cores_gives_the_same_numbers(demo: Path, tmp_path: Path):
    """Threads are the study's; how many runs go at once changes no result."""
    project = copy_project(tmp_path / "again")
    target = "results/demo/runs/resnet18/seed0/predictions.npz"
    done = run_snakemake(
        project, "--cores", "1", "--config", "study=demo", "--", target
    )
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = np.load(demo / target), np.load(project / target)
    for name in first.files:
        np.testing.assert_array_equal(first[name], second[name])


def test_runs_are_those_of_the_study(demo: Path):
    """No run is left out, none is invented."""
    folders = (demo / "results" / "demo" / "runs").glob("*/seed*")
    found = {(path.parent.name, path.name) for path in folders}
    assert found == {(run.variant_id, f"seed{run.seed}") for run in runs_of("demo")}


def test_profiles_name_no_folder_without_a_profile():
    """Snakemake fails on an empty profiles/default."""
    for folder in (ROOT / "profiles").iterdir():
        assert (folder / "profile.yaml").is_file()
