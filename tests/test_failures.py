"""Failures that a training sees, a full disk, and a tracker that hangs."""

import json
import math
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import TINY, require, write_study
from run_numbers import OUTPUTS, assert_equal_bit_for_bit, numbers_of
from typer.testing import CliRunner

from reattn import processes
from reattn.cli.main import app
from reattn.config import load_resolved
from reattn.config.paths import data_folder
from reattn.config.runs import Run, find_run
from reattn.data import prepare
from reattn.data.dataset import array_checksum
from reattn.errors import CheckpointError, DataError, ReattnError
from reattn.training import loop, outcome, tracking
from reattn.training import run as running
from reattn.training.run import train_run
from reattn.training.weights import evaluate_run, load_weights

VIT, LEARNED = "vit", "learned2d-9h-content"


@pytest.fixture
def tiny(project: Path) -> str:
    """A study that trains in seconds, with its data prepared."""
    return prepared(project)


def prepared(project: Path, **changes: object) -> str:
    """Write a study and prepare its digits."""
    name = write_study(project, **changes)
    prepare(load_resolved(name)[0].data, data_folder(name), None)
    return name


def reattn(
    *arguments: str, limit: Callable[[], None] | None = None, **environment: str
) -> subprocess.CompletedProcess:
    """Run a verb as a user would."""
    return subprocess.run(
        [sys.executable, "-m", "reattn", *arguments],
        env={**os.environ, **environment},
        preexec_fn=limit,
        capture_output=True,
        text=True,
    )


def ending(run: Run) -> dict:
    """How a run's status.json says that it ended; all outputs must be there."""
    assert {path.name for path in run.folder.iterdir()} == OUTPUTS
    return json.loads((run.folder / "status.json").read_text())


class Killed(BaseException):
    """Stands for a kill: nothing may catch it."""


# Bad data


def torn_images(data: Path) -> None:
    (data / "images.npy").write_bytes((data / "images.npy").read_bytes()[:1000])


def another_image(data: Path) -> None:
    np.load(data / "images.npy", mmap_mode="r+")[3] ^= 1


def unknown_label(data: Path) -> None:
    images, labels = np.load(data / "images.npy"), np.load(data / "labels.npy")
    labels[5] = 10
    np.save(data / "labels.npy", labels)
    facts = json.loads((data / "data.json").read_text())
    facts["labels_checksum"] = array_checksum(labels)
    facts["checksum"] = array_checksum(images, labels)
    (data / "data.json").write_text(json.dumps(facts))


def too_few_images(data: Path) -> None:
    np.save(data / "images.npy", np.load(data / "images.npy")[:-1])


def torn_facts(data: Path) -> None:
    (data / "data.json").write_text('{"source": "dig')


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (torn_images, "images.npy"),
        (another_image, "images.npy"),
        (unknown_label, "labels from 0 to 10 of 10 classes"),
        (too_few_images, "images.npy"),
        (torn_facts, "data.json"),
    ],
)
def test_unsound_data_is_a_failure_that_is_written_down(tiny: str, spoil, word: str):
    """Every output is there and says so, without a path of this machine."""
    run = find_run(tiny, VIT, 0)
    spoil(run.data)
    metrics = train_run(run)
    assert (metrics["status"], metrics["accuracy"]) == ("failed", None)
    status = ending(run)
    assert (status["status"], status["epoch"]) == ("failed", 0)
    assert word in status["reason"]
    assert str(run.data) not in status["reason"]
    with pytest.raises(CheckpointError, match="holds no weights") as caught:
        load_weights(run, (16, 16), 10)
    assert "\n" not in str(caught.value)


def test_mended_data_trains_as_if_nothing_had_happened(tiny: str):
    """A failure leaves nothing behind that changes a number."""
    run = find_run(tiny, VIT, 0)
    train_run(run)
    expected = numbers_of(run.folder)
    shutil.rmtree(run.folder)
    torn_images(run.data)
    train_run(run)
    prepare(run.study.data, run.data, None)
    train_run(run)
    assert_equal_bit_for_bit(expected, numbers_of(run.folder))


def test_unsound_data_does_not_replace_a_run_that_ended_well(tiny: str):
    """Numbers that are there are worth more than a failure."""
    run = find_run(tiny, VIT, 0)
    train_run(run)
    before = numbers_of(run.folder)
    torn_images(run.data)
    with pytest.raises(DataError, match=r"images\.npy"):
        train_run(run)
    assert_equal_bit_for_bit(before, numbers_of(run.folder))


def test_every_verb_copes_with_a_run_that_has_no_model(tiny: str):
    """Case D08: its rows and figures say so, and everything else is made."""
    train_run(find_run(tiny, LEARNED, 0))
    run = find_run(tiny, VIT, 0)
    torn_images(run.data)
    done = reattn("train", tiny, VIT)
    assert (done.returncode, done.stdout) == (0, "vit seed 0: failed, n/a\n")
    prepare(run.study.data, run.data, None)
    for verb in (
        ("tables", tiny),
        *(("attention", tiny, variant) for variant in (VIT, LEARNED)),
        *(("figures", tiny, variant) for variant in (VIT, LEARNED)),
        *(("charts", tiny, kind) for kind in ("curves", "comparison")),
    ):
        told = CliRunner().invoke(app, verb)
        assert told.exit_code == 0, (verb, told.exception)
    with (run.folder.parents[2] / "tables" / "runs.csv").open() as file:
        row = next(line for line in file if line.startswith("vit"))
    assert "images.npy cannot be opened" in row
    with pytest.raises(CheckpointError, match="holds no weights"):
        evaluate_run(run)


def test_data_that_is_not_prepared_is_no_failure_of_the_run(project: Path):
    """Case D11: a training never downloads; it says what is missing, writes nothing."""
    name = write_study(project)
    done = reattn("train", name, VIT)
    assert done.returncode == 2
    assert "data.json" in done.stderr
    assert "Traceback" not in done.stderr
    assert not find_run(name, VIT, 0).folder.exists()


# Out of memory and divergence, wherever they happen


def out_of_memory(*arguments: object, **options: object) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (running, "open_sets"),
        (running, "fresh_model"),
        (loop, "authors_accuracy"),
        (loop, "log_probabilities"),
        (running, "log_probabilities"),
        (torch.optim.SGD, "step"),
    ],
)
def test_out_of_memory_anywhere_is_a_failure_that_is_written_down(
    tiny: str, monkeypatch, owner: object, name: str
):
    """Case R1: a run that does not fit says so; the others go on."""
    run = find_run(tiny, VIT, 0)
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, out_of_memory)
        assert train_run(run)["status"] == "failed"
    assert "out of memory" in ending(run)["reason"]
    assert train_run(run)["status"] == "ok"


def test_a_failure_keeps_the_epochs_that_ended_well(tiny: str, monkeypatch):
    """Case D17: the last good weights stay, and a run with more memory goes on."""
    run = find_run(tiny, VIT, 0)
    train_run(run)
    expected = numbers_of(run.folder)
    (run.work / "checkpoint.pt").unlink()
    original = loop.Loop._epoch
    with monkeypatch.context() as patched:
        patched.setattr(
            loop.Loop,
            "_epoch",
            lambda self, epoch, progress: (
                original(self, epoch, progress) if epoch < 3 else out_of_memory()
            ),
        )
        assert train_run(run)["epochs_run"] == 2
    assert ending(run)["epoch"] == 2
    assert load_weights(run, (16, 16), 10)
    metrics = train_run(run)
    assert [session["first_epoch"] for session in metrics["sessions"]] == [1, 3]
    assert_equal_bit_for_bit(expected, numbers_of(run.folder))


def test_other_faults_are_not_taken_for_failures(tiny: str, monkeypatch):
    """A bug or a broken card leaves no outputs, so that Snakemake tries again."""

    def broken(*arguments: object) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(loop.Loop, "_epoch", broken)
    run = find_run(tiny, VIT, 0)
    with pytest.raises(RuntimeError, match="illegal"):
        train_run(run)
    assert not run.folder.exists()


# A full disk


def two_epochs_of(run: Run, monkeypatch) -> dict:
    """The numbers of an unbroken run; a checkpoint of its second epoch is left."""
    train_run(run)
    expected = numbers_of(run.folder)
    shutil.rmtree(run.folder)
    (run.work / "checkpoint.pt").unlink()

    original = loop.Loop._epoch

    def killed(self, epoch, progress):
        if epoch == 3:
            raise Killed
        return original(self, epoch, progress)

    with monkeypatch.context() as patched:
        patched.setattr(loop.Loop, "_epoch", killed)
        with pytest.raises(Killed):
            train_run(run)
    return expected


def files_below(folder: Path) -> dict[str, bytes]:
    """The content of every file, hidden ones too."""
    return {
        str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def assert_names_the_full_disk(done: subprocess.CompletedProcess, name: str) -> None:
    """One message that names the file; no traceback."""
    assert done.returncode == 2, done.stderr
    *_, last = done.stderr.splitlines()
    assert last.startswith("error: ")
    assert f"{name} cannot be written" in last
    assert "Traceback" not in done.stderr


def smallest_files() -> None:
    """In a process about to start: no file may grow beyond 20 KB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def test_no_room_for_a_checkpoint(tiny: str, monkeypatch):
    """The one before stays, nothing else does, and the same command goes on later."""
    run = find_run(tiny, VIT, 0)
    expected = two_epochs_of(run, monkeypatch)
    before = files_below(run.work)
    done = reattn("train", tiny, VIT, limit=smallest_files)
    assert_names_the_full_disk(done, "checkpoint.pt")
    assert files_below(run.work) == before
    assert not run.folder.exists()
    metrics = train_run(run)
    assert [session["first_epoch"] for session in metrics["sessions"]] == [1, 3]
    assert_equal_bit_for_bit(expected, numbers_of(run.folder))


@pytest.fixture
def small_disk(tmp_path: Path):
    """A maker of small file systems; needs root."""
    require(os.geteuid() == 0, "mounting a small file system needs root")
    mounted = []

    def make(folder: Path, kilobytes: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        size = f"size={kilobytes}k"
        command = ["mount", "-t", "tmpfs", "-o", size, "none", folder]
        require(subprocess.run(command).returncode == 0, "tmpfs cannot be mounted")
        mounted.append(folder)

    yield make
    for folder in mounted:
        subprocess.run(["umount", folder], check=True)


IN_ORDER = ("model.pt", "history.csv", "predictions.npz", "metrics.json", "status.json")
PAGE = 4  # kilobytes that a file system of `small_disk` gives away at once


@pytest.mark.parametrize("number", range(len(IN_ORDER)), ids=IN_ORDER)
def test_a_full_disk_at_the_outputs(tiny: str, small_disk, number: int):
    """No output is half written, and the status is never there without the rest."""
    run = find_run(tiny, VIT, 0)
    train_run(run)
    expected = numbers_of(run.folder)
    sizes = [(run.folder / name).stat().st_size for name in IN_ORDER[:number]]
    shutil.rmtree(run.folder)
    room = sum(math.ceil(size / 1024 / PAGE) * PAGE for size in sizes)
    small_disk(run.folder, room or PAGE)
    with pytest.raises(ReattnError, match=f"{IN_ORDER[number]} cannot be written"):
        train_run(run)
    assert {path.name for path in run.folder.iterdir()} == {*IN_ORDER[:number]}
    subprocess.run(["mount", "-o", "remount,size=1m", run.folder], check=True)
    train_run(run)
    assert_equal_bit_for_bit(expected, numbers_of(run.folder))


def test_a_full_disk_at_a_checkpoint(tiny: str, small_disk, monkeypatch):
    """On a real file system: the last checkpoint is whole, and it is gone on from."""
    run = find_run(tiny, VIT, 0)
    train_run(run)
    expected = numbers_of(run.folder)
    shutil.rmtree(run.folder)
    size = (run.work / "checkpoint.pt").stat().st_size // 1000
    shutil.rmtree(run.work)
    small_disk(run.work, round(1.5 * size))
    done = reattn("train", tiny, VIT)
    assert_names_the_full_disk(done, "checkpoint.pt")
    assert {path.name for path in run.work.iterdir()} == {"checkpoint.pt", "lock"}
    subprocess.run(["mount", "-o", "remount,size=9m", run.work], check=True)
    metrics = train_run(run)
    assert metrics["sessions"][1]["first_epoch"] == 2
    assert_equal_bit_for_bit(expected, numbers_of(run.folder))


def test_a_full_disk_at_the_images(project: Path, small_disk):
    """A memory map without room would end the process by a bus error."""
    name = write_study(project)
    small_disk(data_folder(name), 500)
    done = reattn("prepare", name)
    assert_names_the_full_disk(done, "images.npy")
    assert list(data_folder(name).iterdir()) == []
    subprocess.run(["mount", "-o", "remount,size=9m", data_folder(name)], check=True)
    assert reattn("prepare", name).returncode == 0


def test_a_disk_that_takes_no_log_ends_no_training(tiny: str, monkeypatch):
    """What cannot be said is left unsaid; the outputs are written.

    With buffers, as a user's Python has them: what is left in one fails at the end.
    """
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "reattn", "train", tiny, VIT],
            stdout=full,
            stderr=full,
        )
    assert done.returncode == 0
    assert ending(find_run(tiny, VIT, 0))["status"] == "ok"


def test_an_old_status_never_stands_beside_new_numbers(tiny: str, monkeypatch):
    """A kill among the outputs leaves a run that is plainly not finished."""
    run = find_run(tiny, VIT, 0)
    train_run(run)
    expected = numbers_of(run.folder)

    def killed(*arguments: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(outcome, "write_history", killed)
        with pytest.raises(Killed):
            train_run(run)
    assert not (run.folder / "status.json").exists()
    monkeypatch.setattr(loop.Loop, "_epoch", killed)
    train_run(run)
    assert_equal_bit_for_bit(expected, numbers_of(run.folder))


# A tracker that hangs

HANGING_TRACKER = """
import atexit, threading
from reattn.training import tracking
tracking.PATIENCE = 1.0
hang = threading.Event().wait
atexit.register(hang)
class Settings:
    def __init__(self, **settings): pass
class Run:
    url, dir, summary = None, "run/files", {}
    def log(self, *values, **options): pass
    def finish(self): hang()
def init(**settings): return Run()
"""


def test_a_tracker_that_never_finishes_does_not_keep_the_process(project: Path):
    """Case D10: neither its `finish` nor its clean-up at exit holds the card."""
    name = prepared(project, training={**TINY["training"], "wandb": "offline"})
    fake = project / "fake"
    fake.mkdir()
    (fake / "wandb.py").write_text(HANGING_TRACKER)
    done = reattn("train", name, VIT, PYTHONPATH=str(fake))
    assert done.returncode == 0, done.stderr
    assert "to finish; going on without it" in done.stderr
    assert ending(find_run(name, VIT, 0))["status"] == "ok"
    assert tracking.PATIENCE + processes.LINGERING <= 20
