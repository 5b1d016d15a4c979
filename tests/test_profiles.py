"""The profiles, and what jobs ask of a cluster."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, TINY, copy_project, run_snakemake, write_study

from reattn.config.runs import runs_of
from reattn.costs.requests import (
    TIME_MARGIN,
    limits_from,
    memory_request,
    minutes_needed,
    runtime_request,
)
from reattn.costs.runs import image_bytes
from reattn.errors import ConfigError

PROFILES = {
    name: (ROOT / "profiles" / name / "profile.yaml").read_text()
    for name in ("default", "slurm")
}
SETTINGS = {name: yaml.safe_load(text) for name, text in PROFILES.items()}
RULES = {path.name: path.read_text() for path in ROOT.glob("workflow/**/*.smk")}
OF_ONE_MACHINE = {"cores", "resources"}
GPU_RULES = {"train_model", "measure_models"}
ON_THE_SUBMIT_HOST = {"download_data", "default", "pack_page", "take_pictures"}
LIMITS = limits_from(yaml.safe_load((ROOT / "config" / "config.yaml").read_text()))
# GPU keys that the plugin passes on to srun alone, or not at all.
MISSPELT = re.compile(r"^\s*(gpus|nvidia_gpu|gres|ngpu\w*)\s*[:=]", re.MULTILINE)
EDITABLE = re.compile(r"^( *)# ( *[a-z_-]+:.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """A copy of the project without results."""
    return copy_project(tmp_path_factory.mktemp("clone") / "project")


def submissions(project: Path, *arguments: str) -> list[dict]:
    """What the plugin would submit for every job of a call."""
    script = ROOT / "tests" / "sbatch_strings.py"
    done = subprocess.run(
        [sys.executable, script, *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    found = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert found, done.stdout + done.stderr
    return [json.loads(line) for line in found]


def test_the_slurm_profile_repeats_what_is_not_about_one_machine():
    """It replaces the default profile, whose keys would be lost."""
    shared = SETTINGS["default"].keys() - OF_ONE_MACHINE
    assert shared >= {"rerun-incomplete", "keep-going", "rerun-triggers", "nolock"}
    for key in shared:
        assert SETTINGS["slurm"].get(key) == SETTINGS["default"][key], key
    assert not SETTINGS["slurm"].keys() & OF_ONE_MACHINE


def test_retries_stand_in_the_slurm_profile_alone():
    """Case D03: on rules a cluster multiplies them."""
    assert SETTINGS["slurm"]["retries"] > 0
    for name, text in RULES.items():
        assert not re.search(r"^\s*retries\s*:", text, re.MULTILINE), name


@pytest.mark.parametrize("where", [*RULES, *PROFILES])
def test_gpus_are_asked_for_by_one_key(where: str):
    """Case D02: other spellings reach no sbatch, and the job no GPU."""
    assert not MISSPELT.search({**RULES, **PROFILES}[where])


@pytest.mark.parametrize("text", ["  gpus=1,", "gpus: 2", "  nvidia_gpu=1", "gres: x"])
def test_other_spellings_of_a_gpu_would_be_found(text: str):
    """The check above can fail."""
    assert MISSPELT.search(f"resources:\n{text}\n")


@pytest.mark.parametrize("study", ["paper", "demo"])
def test_gpu_jobs_ask_slurm_for_one_gpu_and_others_for_none(clone: Path, study: str):
    """Case D02: in the strings that the plugin's own functions build."""
    options = ("--workflow-profile", "profiles/slurm", "--config", f"study={study}")
    for job in submissions(clone, *options):
        needs_gpu = study == "paper" and job["rule"] in GPU_RULES
        assert (" --gpus=1" in job["sbatch"]) == needs_gpu, job
        assert job["srun"] == ("--gpus=1" if needs_gpu else ""), job
        assert "gres" not in job["sbatch"]
        assert re.search(r" -t \d+ --mem \d+ ", job["sbatch"]), job
        assert job["local"] == (job["rule"] in ON_THE_SUBMIT_HOST)


def test_measuring_goes_first_and_then_the_longest_training(clone: Path):
    """No core waits for a long training that began last, nor for a free machine."""
    jobs = submissions(clone, "--cores", "2", "--config", "study=demo")
    priorities = {job["rule"]: job["priority"] for job in jobs}
    assert priorities["measure_models"] > 1 > priorities["save_attention"]
    given = {
        job["wildcards"]["variant"]: job["priority"]
        for job in jobs
        if job["rule"] == "train_model"
    }
    estimated = {
        run.variant_id: minutes_needed(run, LIMITS.operations_per_second)
        for run in runs_of("demo")
    }

    def by_length(lengths: dict[str, float]) -> list[str]:
        return sorted(lengths, key=lambda name: (lengths[name], name))

    assert by_length(given) == by_length(estimated)
    assert max(given.values()) == 1


def test_work_of_seconds_is_submitted_in_batches():
    """Each would wait in the queue for longer than it takes."""
    rules = re.findall(r"^rule (\w+):", "".join(RULES.values()), re.MULTILINE)
    # One failed figure must not keep the report from being written.
    alone = {*GPU_RULES, *ON_THE_SUBMIT_HOST, "prepare_data"}
    alone.add("write_report")
    assert set(rules) - alone == set(SETTINGS["slurm"]["groups"])


def test_what_people_edit_reaches_the_jobs_that_it_is_for(clone: Path, tmp_path: Path):
    """Partition, account and model as in the profile's comments, once they are none."""
    folder = tmp_path / "edited"
    folder.mkdir()
    edited = EDITABLE.sub(r"\1\2", PROFILES["slurm"])
    (folder / "profile.yaml").write_text(edited)
    options = ("--workflow-profile", str(folder), "--config", "study=paper")
    for job in submissions(clone, *options):
        on_gpu = job["rule"] in GPU_RULES
        assert (" --gpus=a100:1" in job["sbatch"]) == on_gpu, job
        assert (" -p gpu " in job["sbatch"]) == on_gpu, job
        assert (" -p main " in job["sbatch"]) != on_gpu, job
        assert (" --exclusive" in job["sbatch"]) == (job["rule"] == "measure_models")
        assert " -A project " in job["sbatch"]


def test_the_documented_command_needs_no_slurm_to_show_what_would_run(
    clone: Path, tmp_path: Path
):
    """A dry run on a laptop; the command line's study leaves the limits alone."""
    for program in ("bash", "which"):
        (tmp_path / program).symlink_to(shutil.which(program))
    done = run_snakemake(
        *(clone, "-n", "--workflow-profile", "profiles/slurm"),
        *("--config", "study=paper"),
        PATH=os.pathsep.join([str(Path(sys.executable).parent), str(tmp_path)]),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"train_model +48\n", done.stdout + done.stderr)


def test_the_retries_cover_the_longest_run_of_the_paper():
    """Every attempt goes on from the last epoch, so that their times add up."""
    attempts = range(1, SETTINGS["slurm"]["retries"] + 2)
    for run in runs_of("paper"):
        time = sum(runtime_request(run, LIMITS, attempt) for attempt in attempts)
        needed = minutes_needed(run, LIMITS.operations_per_second)
        assert time >= TIME_MARGIN * needed, run.name
        longest = runtime_request(run, LIMITS, attempts[-1])
        assert longest >= 10 * needed / run.budget.last_epoch, run.name


def test_a_job_asks_for_more_time_with_every_attempt_up_to_the_limit():
    """A rate that was guessed too high delays a run, and never ends it."""
    short = next(run for run in runs_of("paper") if run.variant_id == "resnet18")
    times = [runtime_request(short, LIMITS, attempt) for attempt in (1, 2, 100)]
    assert times[0] < times[1] < times[2] == LIMITS.longest_job
    long = next(run for run in runs_of("paper") if run.variant_id == "vit")
    assert runtime_request(long, LIMITS) == LIMITS.longest_job
    assert type(times[0]) is int


def test_where_the_images_are_not_known_a_job_asks_for_the_longest_time(project: Path):
    """A folder of a user's own is counted once it is prepared."""
    training = {key: TINY["training"][key] for key in ("device", "epochs", "batch")}
    data = {"source": "image-folder", "image_size": 16}
    (run, *_) = runs_of(write_study(project, data=data, training=training))
    assert runtime_request(run, LIMITS) == LIMITS.longest_job
    facts = {"counts": {"train": 100, "test": 10}}
    run.data.mkdir(parents=True)
    (run.data / "data.json").write_text(json.dumps(facts))
    assert runtime_request(run, LIMITS) < 60


def test_memory_grows_with_the_attempts_and_not_without_end():
    """A request that no node can meet would end all attempts in the queue."""
    (run, *_) = runs_of("demo")
    first = memory_request(run)
    asked = [memory_request(run, attempt) for attempt in (1, 2, 4, 100)]
    assert asked[0] == first < asked[1] <= 2 * first
    assert asked[2] == asked[3] <= 4 * first


def test_memory_holds_the_model_where_the_host_trains_it():
    """On a CPU a larger model asks for more; on a GPU the card holds it."""
    asked = {
        study: {run.variant_id: memory_request(run) for run in runs_of(study)}
        for study in ("cifar10-cpu", "paper")
    }
    large, small = "learned2d-16h-content", "san-patchwise"
    assert asked["cifar10-cpu"][large] > asked["cifar10-cpu"][small]
    assert asked["paper"][large] == asked["paper"][small]
    # What was measured: torch and its kernels alone, and the largest of these models.
    assert asked["cifar10-cpu"][small] > 740
    assert asked["cifar10-cpu"][large] > 1570


# Peak resident MB of full-size models on a CPU in the second of two training steps at
# their micro-batch, freed memory kept; torch 2.14, two threads.
MEASURED = {
    "ha-learned2d-16h-content": 3828,
    "ha-learned2d-9h-content": 2403,
    "ha-san-pairwise": 3317,
    "ha-vit": 2849,
    "learned2d-16h-content": 3976,
    "learned2d-16h-nocontent": 3921,
    "learned2d-9h-content": 2963,
    "learned2d-9h-nocontent": 3041,
    "quadratic-16h-anisotropic": 3851,
    "quadratic-9h-anisotropic": 3545,
    "quadratic-9h-isotropic": 3615,
    "resnet18": 1681,
    "san-pairwise": 928,
    "san-patchwise": 903,
    "vit": 3472,
}


@pytest.mark.parametrize("variant", MEASURED)
def test_the_memory_of_a_training_is_what_was_measured(variant: str):
    """The estimate: not below it, with Snakemake twice, and not wildly above."""
    run = next(run for run in runs_of("paper") if run.variant_id == variant)
    training = run.study.training.model_copy(update={"device": "cpu"})
    study = run.study.model_copy(update={"training": training})
    taken = MEASURED[variant] + 2 * 150 + 2 * image_bytes(run) / 2**20
    assert taken <= memory_request(replace(run, study=study)) <= 1.6 * taken


@pytest.mark.parametrize("value", ["a day", None, 0, -5, float("inf"), [1]])
def test_limits_that_are_no_numbers_are_refused(value):
    """The message names the key, the value and what to write."""
    with pytest.raises(ConfigError, match=r"longest_job = .*Write minutes, such as"):
        limits_from({"longest_job": value, "operations_per_second": 1e12})


def test_limits_are_read_from_the_command_line(clone: Path):
    """As the other keys of config/config.yaml, one at a time."""
    options = ("--workflow-profile", "profiles/slurm", "--config", "study=paper")
    jobs = submissions(clone, *options, "longest_job=300")
    times = {
        int(re.search(r" -t (\d+) ", job["sbatch"])[1])
        for job in jobs
        if job["rule"] == "train_model"
    }
    assert max(times) == 300
