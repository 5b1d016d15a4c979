"""A whole study through a real Slurm, with everything that happens to jobs there."""

import contextlib
import csv
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import yaml
from conftest import ROOT, TINY, copy_project, require, run_snakemake, write_study
from run_numbers import assert_equal_bit_for_bit, numbers_of
from slurm import one_node_slurm, why_not

from reattn.files import read_json

PATIENCE = 1800  # seconds; idle cores take 240, busy ones have taken over 600
# Real clusters are asked every 40 seconds, and keep accounts.
ASK_OFTEN = (
    *("--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "1"),
)
LOGS = ".snakemake/slurm_logs/rule_train_model"  # of jobs that failed
COMMAND = ("--workflow-profile", "profiles/slurm", "--config", "study=tiny")
LEARNED, VIT = "learned2d-9h-content", "vit"
CANCELLED, LATE, GREEDY = f"{LEARNED} 0", f"{LEARNED} 1", f"{VIT} 0"
RUNS = (CANCELLED, LATE, GREEDY, f"{VIT} 1")
# Its first attempt asks for less than Python and torch take.
TOO_LITTLE = (
    "train_model:mem_mb=600 * attempt if wildcards.variant == 'vit' and "
    "wildcards.seed == '0' else 4000"
)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory) -> Iterator[dict[str, str]]:
    """A Slurm of one node with two pretended cards, for as long as these tests run."""
    reason = why_not()
    require(reason is None, f"no Slurm can be started: {reason}")
    leases = str(tmp_path_factory.mktemp("leases"))
    with one_node_slurm(cards=2) as environment:
        yield {
            **environment,
            "REATTN_PRETENDED_CARDS": "card-a,card-b",
            "REATTN_LEASES": leases,
        }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy with a small GPU study: two models, two seeds, some seconds a run."""
    copy = copy_project(tmp_path / "project")
    training = {**TINY["training"], "device": "gpu", "epochs": 12, "epoch_images": 320}
    write_study(copy, seeds=[0, 1], training=training)
    return copy


def start(project: Path, environment: dict[str, str], *arguments: str):
    """Start Snakemake and let it run; what it says goes into a file."""
    with (project / "said.txt").open("a") as said:
        return subprocess.Popen(
            ["snakemake", *arguments, *ASK_OFTEN],
            cwd=project,
            env={**os.environ, **environment},
            stdout=said,
            stderr=subprocess.STDOUT,
        )


def ask(slurm: dict[str, str], *command: str) -> str:
    """What one of Slurm's commands prints."""
    environment = {**os.environ, **slurm}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


def jobs(slurm: dict[str, str], project: Path) -> list[dict[str, str]]:
    """Every job of a project that Slurm has seen, with what was asked for it."""
    lines = ask(slurm, "scontrol", "--oneliner", "show", "jobs").splitlines()
    found = [dict(re.findall(r"(\S+?)=(\S*)", line)) for line in lines]
    return [job for job in found if job.get("WorkDir") == str(project)]


def rule_and_run(job: dict[str, str]) -> tuple[str, str]:
    """The rule of a job, and its wildcards with spaces between them."""
    rule, _, wildcards = job["Comment"].partition("_wildcards_")
    return rule.removeprefix("rule_"), wildcards.replace("_", " ")


def trainings(project: Path) -> dict[str, psutil.Process]:
    """The processes that train a project's runs now, by variant and seed."""
    found = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            is_training = words[1:4] == ["-m", "reattn", "train"]
            if is_training and process.cwd() == str(project):
                found[f"{words[5]} {words[7]}"] = process
    return found


def processes_of_job(job: str) -> list[psutil.Process]:
    """What runs in a job of this Slurm."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("SLURM_JOB_ID") == job:
                found.append(process)
    return found


def has_checkpoint(project: Path, run: str) -> bool:
    """Whether a run has finished an epoch."""
    variant, seed = run.split()
    work = project / "results" / "tiny" / "work" / variant / f"seed{seed}"
    return (work / "checkpoint.pt").exists()


class Watcher:
    """Cancels one training, lets one run out of time, and notes the cards of all."""

    def __init__(self, slurm: dict[str, str], project: Path):
        self.slurm, self.project = slurm, project
        self.done: set[str] = set()
        self.cards: list[set[str]] = []  # of the trainings seen at the same time

    def look(self) -> None:
        """Do what is due, and note what is seen."""
        seen = []
        for run, process in trainings(self.project).items():
            with contextlib.suppress(psutil.Error):
                variables = process.environ()
                job = variables["SLURM_JOB_ID"]
                seen.append(variables["CUDA_VISIBLE_DEVICES"])
                if run not in self.done and has_checkpoint(self.project, run):
                    self._disturb(run, job, process)
        assert len(set(seen)) == len(seen), seen
        self.cards.append(set(seen))

    def _disturb(self, run: str, job: str, process: psutil.Process) -> None:
        self.done.add(run)
        if run == CANCELLED:
            ask(self.slurm, "scancel", job)
        if run == LATE:  # it hangs, and Slurm ends it after its time
            process.suspend()
            ask(self.slurm, "scontrol", "update", f"JobId={job}", "TimeLimit=1")


def run_folder(project: Path, run: str) -> Path:
    """Where a run's outputs lie."""
    variant, seed = run.split()
    return project / "results" / "tiny" / "runs" / variant / f"seed{seed}"


def sessions(project: Path, run: str) -> list[int]:
    """The first epoch of every process that trained a run."""
    variant, seed = run.split()
    folder = project / "results" / "tiny" / "runs" / variant / f"seed{seed}"
    return [
        each["first_epoch"] for each in read_json(folder / "metrics.json")["sessions"]
    ]


@pytest.mark.timeout(PATIENCE)
def test_a_study_survives_a_cancelled_a_greedy_and_a_late_job(slurm, project, tmp_path):
    """Cases D02 and D03: one GPU a training; retries go on to the same numbers."""
    failing = start_failing_workflow(slurm, project, tmp_path / "failing")
    watcher = Watcher(slurm, project)
    main = start(project, slurm, *COMMAND, "--set-resources", TOO_LITTLE)
    while main.poll() is None:
        watcher.look()
        time.sleep(0.3)
    assert main.returncode == 0, (project / "said.txt").read_text()[-4000:]
    check_jobs(jobs(slurm, project))
    assert {"0", "1"} in watcher.cards
    assert sessions(project, f"{VIT} 1") == [1]
    for run in (CANCELLED, LATE):
        assert len(sessions(project, run)) == 2
        assert sessions(project, run)[1] > 1, run
    (log,) = (project / LOGS).glob(f"{GREEDY.replace(' ', '_')}/*.log")
    assert "exceeded memory limit" in log.read_text()
    check_report(project)
    check_attempts(failing, tmp_path / "failing")
    undisturbed = copy_undisturbed(slurm, project, tmp_path / "undisturbed")
    for run in RUNS:
        assert_equal_bit_for_bit(
            *(numbers_of(run_folder(each, run)) for each in (project, undisturbed))
        )


def check_jobs(found: list[dict[str, str]]) -> None:
    """One job more for each of the three; one GPU for each that needs it."""
    ends: dict[str, list[str]] = {}
    for job in sorted(found, key=lambda job: int(job["JobId"])):
        rule, run = rule_and_run(job)
        needs_gpu = rule in ("train_model", "measure_models")
        assert job.get("TresPerJob") == ("gres:gpu:1" if needs_gpu else None), job
        ends.setdefault(run if rule == "train_model" else rule, []).append(
            job["JobState"]
        )
    disturbed = {run: ends.pop(run) for run in (CANCELLED, LATE, GREEDY)}
    assert disturbed[CANCELLED] == ["CANCELLED", "COMPLETED"]
    assert disturbed[LATE] == ["TIMEOUT", "COMPLETED"]
    assert disturbed[GREEDY][0] in ("FAILED", "OUT_OF_MEMORY")
    assert disturbed[GREEDY][1:] == ["COMPLETED"]
    assert {state for states in ends.values() for state in states} == {"COMPLETED"}
    tables = "_".join(["tables", *sorted(grouped("tables"))])
    small = {"attention_draw_attention_save_attention", tables, "charts_draw_charts"}
    small |= {"metrics_draw_attention_metrics_measure_attention", "write_report"}
    small.add("explorer_pack_explorer")
    assert ends.keys() == {"prepare_data", "measure_models", f"{VIT} 1", *small}
    assert len(ends[tables]) == len(ends["write_report"]) == 1


def grouped(name: str) -> list[str]:
    """The rules that the profile puts into a group."""
    profile = yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text())
    return [rule for rule, group in profile["groups"].items() if group == name]


def check_report(project: Path) -> None:
    """Both reports are there and every run counts."""
    results = project / "results" / "tiny"
    with (results / "tables" / "runs.csv").open() as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["ok"] * len(RUNS)
    with (results / "tables" / "models.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["status"], row["n_seeds"]) for row in rows] == [("ok", "2")] * 2
    assert (results / "report" / "report.pdf").read_bytes().startswith(b"%PDF")


def start_failing_workflow(slurm, project: Path, folder: Path) -> subprocess.Popen:
    """A workflow of one job that always fails, with the same profile."""
    folder.mkdir()
    rule = "rule never:\n    output: 'made'\n    shell: 'echo tried >> tries; exit 1'\n"
    (folder / "Snakefile").write_text(rule)
    profile = str(project / "profiles" / "slurm")
    return start(folder, slurm, "--workflow-profile", profile, "--retries", "2")


def check_attempts(failing: subprocess.Popen, folder: Path) -> None:
    """Case D03: exactly one attempt and its retries."""
    assert failing.wait() == 1
    assert (folder / "tries").read_text().split() == ["tried"] * 3


def copy_undisturbed(slurm, project: Path, copy: Path) -> Path:
    """The same runs on one machine, without Slurm and without a disturbance."""
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("results", ".snake*"))
    done = run_snakemake(
        *(copy, "--cores", "2", "--resources", "gpu=2", "--config", "study=tiny"),
        *("--", *(metrics_of(run) for run in RUNS)),
        REATTN_PRETENDED_CARDS="card-a,card-b",
        REATTN_LEASES=slurm["REATTN_LEASES"],
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return copy


def metrics_of(run: str) -> str:
    """The target that trains a run."""
    variant, seed = run.split()
    return f"results/tiny/runs/{variant}/seed{seed}/metrics.json"


@pytest.mark.timeout(PATIENCE)
def test_snakemake_itself_may_be_cancelled(slurm, project):
    """Case D06: it runs in a job, is cancelled, and the same command goes on."""
    target = metrics_of(CANCELLED)
    command = ["snakemake", *COMMAND, *ASK_OFTEN, "--", target]
    environment = {**os.environ, **slurm}
    # This Slurm ends the descendants of its own child; an orphan would live on.
    wrapped = f"exec {shlex.join(command)}"
    submit = ["sbatch", "--parsable", "--mem", "1000", "--wrap", wrapped]
    job = subprocess.run(
        submit, cwd=project, env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()
    wait_until(lambda: has_checkpoint(project, CANCELLED), "an epoch")
    training = trainings(project)[CANCELLED]
    training.suspend()  # so that it outlives Snakemake however fast this machine is
    ask(slurm, "scancel", job)
    wait_until(lambda: not processes_of_job(job), "the cancellation")
    training.resume()
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert read_json(project / target)["status"] == "ok"
    assert read_json(project / target)["epochs_run"] == 13


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that happens within seconds, if it happens at all."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < 120, f"{what} did not happen"
        time.sleep(0.3)
