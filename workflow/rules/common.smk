import os
import shlex
import subprocess
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

# A clone works without being installed, here and in every job.
# Started from Snakefile or from workflow/Snakefile, its folder is the project or below.
BASE = Path(workflow.basedir)
SOURCE = str(next(f / "src" for f in (BASE, BASE.parent) if (f / "src").is_dir()))
sys.path.insert(0, SOURCE)


def quoted(*words):
    """Words of a shell command, safe from the shell and from Snakemake's braces."""
    return shlex.join(map(str, words)).replace("{", "{{").replace("}", "}}")


# Jobs run the Python that runs Snakemake, unless they get an environment of their own.
OWN_ENVIRONMENT = bool(workflow.deployment_settings.deployment_method)
PYTHON = quoted(Path(sys.executable).parent)
# A job ends when the process that started it is gone: the shell's parent.
shell.prefix(
    f"export PYTHONPATH={quoted(SOURCE)}; export REATTN_PARENT=$PPID; "
    + ("" if OWN_ENVIRONMENT else f"export PATH={PYTHON}:$PATH; ")
)

from reattn.cards import slots_message
from reattn.config.claims import load_claims
from reattn.config.explored import is_explored
from reattn.config.freshness import (
    code_changed,
    retraining_reasons,
    setting_changes,
)
from reattn.config.invocation import require_sound_call
from reattn.config.occupation import occupy
from reattn.config.paths import CHARTS, EVIDENCE, KEPT_FILES, RUN_FILES, TABLES
from reattn.config.runs import runs_of
from reattn.costs.requests import limits_from, memory_request, runtime_request
from reattn.costs.runs import relative_work
from reattn.data.digest import known_digest, remember_digest
from reattn.data.locations import source_path
from reattn.errors import ReattnError
from reattn.files import remove_leftovers
from reattn.tables.run_files import read_object

STUDY = str(config["study"])
RESULTS = f"results/{STUDY}"
PREPARED = [f"{RESULTS}/data/{n}" for n in ("data.json", "images.npy", "labels.npy")]


def or_stop(call, *arguments):
    """The result of a call; a fault that has a message ends the parsing with it."""
    try:
        return call(*arguments)
    except ReattnError as fault:
        raise WorkflowError(str(fault)) from None


RUNS = or_stop(runs_of, STUDY)
LIMITS = or_stop(limits_from, config)
# Faults of the claims are told before any work, not after it.
or_stop(load_claims)
SETTINGS = RUNS[0].study
VARIANTS = list(dict.fromkeys(run.variant_id for run in RUNS))
EXPLORED = list(
    dict.fromkeys(run.variant_id for run in RUNS if is_explored(run.variant))
)
NEEDS_GPU = SETTINGS.training.device == "gpu"
SLOTS = {name: slot.value for name, slot in workflow.global_resources.items()}
if workflow.is_main_process:
    asked = [*(workflow.resource_settings.default_resources or {})]
    for overwritten in workflow.resource_settings.overwrite_resources.values():
        asked += overwritten
    or_stop(lambda: require_sound_call(config, SLOTS, asked, needs_gpu=NEEDS_GPU))
ARCHIVE = f"{RESULTS}/data/cifar-10-python.tar.gz"
IMAGES = or_stop(source_path, STUDY, SETTINGS.data, config.get("data_path"))
FACTS, _ = read_object(Path(PREPARED[0]))
DIGEST_MEMORY = Path(RESULTS) / "work" / "source-digest.json"
# What a given source holds; where it is gone, what it held.
DIGEST = FACTS.get("source_digest") if IMAGES else None
if IMAGES and Path(IMAGES).exists():
    DIGEST = or_stop(known_digest, IMAGES, DIGEST_MEMORY)
if IMAGES is None and SETTINGS.data.source == "cifar10":
    IMAGES = ARCHIVE
DATA_OPTION = quoted("--data-path", IMAGES) if IMAGES else ""
NEW_IMAGES = None not in (DIGEST, FACTS.get("source_digest")) and (
    DIGEST != FACTS["source_digest"]
)


def folder_of(run):
    """Where a run's outputs lie."""
    return f"{RESULTS}/runs/{run.variant_id}/seed{run.seed}"


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
    return [f"{folder_of(run)}/{name}" for run in RUNS]


def variant_files(name):
    """One file of every run of a variant; attention takes the first good run."""
    return lambda wildcards: [
        f"{folder_of(run)}/{name}"
        for run in RUNS
        if run.variant_id == wildcards.variant
    ]


def attention_pictures():
    """The image files that attention is drawn on, besides test images."""
    files = [image for image in SETTINGS.attention.images if isinstance(image, str)]
    return [file for file in files if not file.startswith("sample:")]


def source_files(*parts):
    """Source files that a cheap job depends on; compared by content."""
    return [str(path) for part in parts for path in sorted(Path().glob(part))]


def report_files():
    """What the workflow is for."""
    return [
        f"{RESULTS}/report/{name}"
        for name in ("report.html", "report.pdf", "report.md", "manifest.json")
    ]
