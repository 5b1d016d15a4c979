"""A project with a finished study, copied for every test, and verbs run in-process."""

import logging
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from breaking import picture
from conftest import TINY, copy_project, write_study

from reattn import processes
from reattn.cli.main import main

TRAINING = {**TINY["training"], "epoch_images": "all", "evaluation_images": "all"}
VERBS = ("train", "attention", "figures")
CHARTS = ("diagrams", "curves", "comparison")


def call(*arguments: str) -> int:
    """Run the command line in this process, which lives on; its exit status."""
    signals = {number: signal.getsignal(number) for number in processes.ENDING}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["reattn", *arguments])
        patch.setattr(warnings, "showwarning", warnings.showwarning)
        patch.setattr(logging, "raiseExceptions", logging.raiseExceptions)
        patch.setattr(processes, "end_within", lambda seconds, status: None)
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
        finally:
            for number, handler in signals.items():
                signal.signal(number, handler)
    return 0


def make_project(folder: Path) -> Path:
    """A project with a finished study, a prepared folder and untouched studies."""
    project = copy_project(folder)
    pictures = {"source": "image-folder", "image_size": 16}
    write_study(project)
    write_study(project, "untouched")
    for name in ("folder", "fresh"):
        write_study(project, name, data=pictures, training=TRAINING)
    cifar = {"source": "cifar10", "image_size": 16}
    write_study(project, "cifar", data=cifar, training=TRAINING)
    fill_tree(project / "pictures")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        patch.delenv("REATTN_ROOT", raising=False)
        for command in (
            *("prepare tiny", "prepare folder --data-path pictures", "measure tiny"),
            *(f"{verb} tiny {name}" for name in TINY["variants"] for verb in VERBS),
            *("tables tiny", *(f"charts tiny {kind}" for kind in CHARTS)),
            "report tiny",
        ):
            assert call(*command.split()) == 0, command
    return project


def fill_tree(folder: Path) -> None:
    """Two classes with two images for training and one for testing."""
    for name in ("train/a/0", "train/a/1", "train/b/0", "test/a/0", "test/b/0"):
        path = folder / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture())


def run_verb(
    project: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess:
    """Run a verb in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "reattn", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project / "src"), **environment},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
