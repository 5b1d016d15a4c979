import os
import shlex
import subprocess
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

# A clone works without being installed, here and in every job.
SOURCE = str(Path(workflow.basedir).parent / "src")
sys.path.insert(0, SOURCE)
QUOTED = shlex.quote(SOURCE).replace("{", "{{").replace("}", "}}")
shell.prefix(f"export PYTHONPATH={QUOTED}; ")

from reattn.config.runs import runs_of
from reattn.data.locations import source_path
from reattn.errors import ReattnError

STUDY = config["study"]
RESULTS = f"results/{STUDY}"
CHARTS = ("diagrams", "curves", "comparison")


def or_stop(call, *arguments):
    """The result of a call; a fault that has a message ends the parsing with it."""
    try:
        return call(*arguments)
    except ReattnError as fault:
        raise WorkflowError(str(fault)) from None


RUNS = or_stop(runs_of, STUDY)
SETTINGS = RUNS[0].study
VARIANTS = list(dict.fromkeys(run.variant_id for run in RUNS))
NEEDS_GPU = SETTINGS.training.device == "gpu"
DATA_PATH = or_stop(source_path, STUDY, SETTINGS.data, config.get("data_path"))


def archive_to_download():
    """The official archive, where a study needs it and no path is given."""
    if SETTINGS.data.source == "cifar10" and DATA_PATH is None:
        return rules.download_data.output.archive
    return []


def data_path_option(wildcards, input):
    """The option that names the images, if the source needs one."""
    path = input.get("archive") or DATA_PATH
    return ["--data-path", path] if path else []


def get_run(wildcards):
    """The run that a training job makes."""
    return next(
        run
        for run in RUNS
        if (run.variant_id, str(run.seed)) == (wildcards.variant, wildcards.seed)
    )


def run_files(name):
    """One file of every run."""
    return [f"{RESULTS}/runs/{run.variant_id}/seed{run.seed}/{name}" for run in RUNS]


def first_run_weights(wildcards):
    """The weights of a variant's runs, of which attention takes the first good."""
    return [
        f"{RESULTS}/runs/{run.variant_id}/seed{run.seed}/model.pt"
        for run in RUNS
        if run.variant_id == wildcards.variant
    ]


def every_core(wildcards):
    """All cores that this call may use, so that no other job runs meanwhile."""
    return workflow.cores or SETTINGS.training.threads


def source_files(*parts):
    """Source files that a cheap job depends on; compared by content."""
    return [str(path) for part in parts for path in sorted(Path().glob(part))]


def report_files():
    """What the workflow is for."""
    return [
        f"{RESULTS}/report/{name}"
        for name in ("report.html", "report.pdf", "report.md", "manifest.json")
    ]


def say(command):
    """Run a verb of reattn for what it prints."""
    return subprocess.run(
        [sys.executable, "-m", "reattn", *shlex.split(command)],
        env=os.environ | {"PYTHONPATH": SOURCE},
    )


def start_of_work():
    """Print the plan; stop at once where a GPU is needed and none is there.

    On a cluster the submitting host may have no GPU; there each job looks itself.
    """
    jobs = [job.name for job in workflow.dag.needrun_jobs()]
    if "train_model" not in jobs:
        return
    if NEEDS_GPU and workflow.local_exec and say("check-gpu").returncode:
        raise WorkflowError(f"Study {STUDY} cannot train here; nothing was started.")
    say(f"plan {STUDY}")
