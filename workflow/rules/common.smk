import os
import shlex
import subprocess
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

# A clone works without being installed, here and in every job.
# Started from Snakefile or from workflow/Snakefile, its folder is the project or below.
BASE = Path(workflow.basedir)
SOURCE = str(next(f / "src" for f in (BASE, BASE.parent) if (f / "src").is_dir()))
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
ARCHIVE = f"{RESULTS}/data/cifar-10-python.tar.gz"
IMAGES = or_stop(source_path, STUDY, SETTINGS.data, config.get("data_path"))
if IMAGES is None and SETTINGS.data.source == "cifar10":
    IMAGES = ARCHIVE


def get_run(wildcards):
    """The run that a training job makes."""
    return next(
        run
        for run in RUNS
        if (run.variant_id, str(run.seed)) == (wildcards.variant, wildcards.seed)
    )


def texts():
    """What tables and report say of the study besides its numbers."""
    study = SETTINGS.model_dump()
    keys = ("title", "reduced", "groups", "variants", "seeds", "overrides")
    return {
        **{key: study[key] for key in keys},
        "note": SETTINGS.data.note,
        "validation": SETTINGS.validation.model_dump(),
        "models": {
            run.variant_id: run.variant.model_dump(exclude={"model", "recipe"})
            for run in RUNS
        },
    }


def texts_of(variant):
    """What the figures of a variant say besides its attention."""
    return [texts()["models"][variant]["label"], SETTINGS.reduced]


def run_files(name):
    """One file of every run."""
    return [f"{RESULTS}/runs/{run.variant_id}/seed{run.seed}/{name}" for run in RUNS]


def variant_files(name):
    """One file of every run of a variant; attention takes the first good run."""
    return lambda wildcards: [
        f"{RESULTS}/runs/{run.variant_id}/seed{run.seed}/{name}"
        for run in RUNS
        if run.variant_id == wildcards.variant
    ]


def attention_pictures():
    """The image files that attention is drawn on, besides test images."""
    files = [image for image in SETTINGS.attention.images if isinstance(image, str)]
    return [file for file in files if not file.startswith("sample:")]


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
