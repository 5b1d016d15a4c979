"""Kills: of a training, of what started it, at any moment; nothing is lost."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import torch
import torture
from conftest import TINY, write_study
from filelock import FileLock
from run_numbers import assert_equal_bit_for_bit, numbers_of

from reattn import processes
from reattn.config import load_resolved
from reattn.config.paths import data_folder
from reattn.config.runs import Run, find_run
from reattn.data import prepare
from reattn.errors import ReattnError
from reattn.files import TEMPORARY
from reattn.training import checkpoints
from reattn.training.alone import alone
from reattn.training.run import train_run
from reattn.training.weights import evaluate_run

VIT = "vit"
LONG = {**TINY["training"], "epochs": 40}  # some seconds, on fast machines too
WAIT = 60.0  # seconds within which something must happen on the slowest machine


def prepared(project: Path, name: str = "tiny", **changes: object) -> str:
    """Write a study and prepare its digits."""
    write_study(project, name, **changes)
    prepare(load_resolved(name)[0].data, data_folder(name), None)
    return name


@pytest.fixture
def long(project: Path) -> Run:
    """A run that takes long enough to be killed."""
    return find_run(prepared(project, training=LONG), VIT, 0)


def command_of(run: Run) -> list[str]:
    """The command that trains a run."""
    verb = [sys.executable, "-m", "reattn", "train", run.study_name, run.variant_id]
    return [*verb, "--seed", str(run.seed)]


def started(run: Run, **options: object) -> subprocess.Popen:
    """A training in a process of its own."""
    return subprocess.Popen(
        command_of(run), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def wait_for_an_epoch(run: Run, process: subprocess.Popen) -> None:
    """Wait until one more epoch is finished."""
    checkpoint = run.work / "checkpoint.pt"
    before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0

    def finished() -> bool:
        assert process.poll() is None, process.stderr.read()
        return checkpoint.exists() and checkpoint.stat().st_mtime_ns > before

    assert torture.wait_until(finished, WAIT, 0.02)


def left_over(run: Run) -> list[Path]:
    """Temporary files among a run's files."""
    paths = [*run.work.glob(".*"), *run.folder.glob(".*")]
    return [path for path in paths if TEMPORARY.fullmatch(path.name)]


# Signals


def test_every_signal_ends_a_training_and_loses_nothing(long: Run):
    """Case D05: each ends with one sentence; the same command goes on to the same bits.

    SIGKILL leaves no time for a sentence. No finished epoch is trained twice.
    """
    train_run(long)
    expected = numbers_of(long.folder)
    shutil.rmtree(long.folder)
    shutil.rmtree(long.work)
    signals = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)
    for number in signals:
        process = started(long)
        wait_for_an_epoch(long, process)
        process.send_signal(number)
        _, said = process.communicate(timeout=WAIT)
        assert not long.folder.exists()
        if number == signal.SIGKILL:
            continue
        assert process.returncode == 128 + number
        *_, last = said.decode().splitlines()
        assert f"ended by {number.name}; the same command goes on" in last
        assert b"Traceback" not in said
        assert left_over(long) == []
    metrics = train_run(long)
    first_epochs = [session["first_epoch"] for session in metrics["sessions"]]
    assert len(first_epochs) == 1 + len(signals)
    assert first_epochs == sorted(set(first_epochs))
    assert metrics["train_seconds"] > 0
    assert_equal_bit_for_bit(expected, numbers_of(long.folder))


def ignore_hangups() -> None:
    """In a process about to start, as nohup does."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_a_training_under_nohup_survives_the_terminal(project: Path):
    """Whoever starts it may log out."""
    training = {**TINY["training"], "epochs": 20}
    run = find_run(prepared(project, training=training), VIT, 0)
    process = started(run, preexec_fn=ignore_hangups)
    wait_for_an_epoch(run, process)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=WAIT)
    assert process.returncode == 0
    assert (run.folder / "status.json").exists()


HANGING_CLEAN_UP = """
import atexit, sys, threading, time
from reattn import processes
processes.GRACE = 1.0
atexit.register(threading.Event().wait)
processes.end_on_signals()
print(flush=True)
try:
    threading.Event().wait()
except processes.Ended:
    threading.Event().wait()
"""


def test_a_clean_up_that_hangs_is_ended():
    """A process that was told to end does, whatever another library does."""
    command = [sys.executable, "-c", HANGING_CLEAN_UP]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(WAIT) == 128 + signal.SIGTERM


# The process that started it

PARENT = """
import subprocess, sys
command = "export REATTN_PARENT=$PPID; " + sys.argv[1] + " 2> log"
print(subprocess.Popen(["bash", "-c", command]).pid, flush=True)
sys.stdin.read()
"""


def test_a_training_does_not_outlive_what_started_it(long: Run, tmp_path: Path):
    """Snakemake that is killed leaves no process that holds a card or a lock.

    A shell stands between; the tracker's own process goes as well.
    """
    write_study(
        tmp_path, training={**LONG, "wandb": "offline"}
    )  # the data stays prepared
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, " ".join(command_of(long))],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    shell = psutil.Process(int(parent.stdout.readline()))
    wait_for_an_epoch(long, parent)
    family = [shell, *shell.children(recursive=True)]
    assert any("wandb" in process.name() for process in family)
    parent.kill()
    _, alive = psutil.wait_procs(family, WAIT)
    parent.communicate()
    assert alive == []
    log = (tmp_path / "log").read_text()
    assert f"Process {parent.pid}, which started this one, is gone." in log
    assert "Traceback" not in log
    with alone(long, wait=0):
        assert left_over(long) == []


@pytest.fixture
def ended(monkeypatch) -> list[int]:
    """The signals that this process would have sent itself."""
    sent: list[int] = []
    monkeypatch.setattr(processes, "POLL", 0.01)
    monkeypatch.setattr(processes, "end_within", lambda *arguments: None)
    monkeypatch.setattr(os, "kill", lambda process, number: sent.append(number))
    return sent


def test_a_zombie_is_gone(ended: list[int], monkeypatch):
    """A killed Snakemake whose own parent does not look is dead all the same."""
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: 0.0)
    child = subprocess.Popen(["true"])
    assert torture.wait_until(
        lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE, WAIT
    )
    processes._follow(child.pid)
    assert ended == [signal.SIGTERM]
    child.wait()
    processes._follow(child.pid)
    assert ended == [signal.SIGTERM] * 2


def test_a_process_id_that_is_used_again_is_another_process(ended: list[int]):
    """What began after this process cannot have started it."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        processes._follow(child.pid)
        assert ended == [signal.SIGTERM]
        child.stdin.close()


@pytest.mark.parametrize("value", ["abc", "0", "-3", "1.5", "²", "99999999999"])
def test_a_parent_that_is_no_process_id_is_refused(monkeypatch, value: str):
    """A variable that somebody set by hand is named."""
    monkeypatch.setenv(processes.PARENT, value)
    with pytest.raises(ReattnError, match="REATTN_PARENT"):
        processes.end_with_parent()


# One process a run


def test_a_run_is_trained_by_one_process_at_a_time(long: Run):
    """The second waits, then says which run it is; a killed one locks nobody out."""
    process = started(long)
    wait_for_an_epoch(long, process)
    with pytest.raises(ReattnError, match="Another process trains tiny/vit/seed0"):
        train_run(long, wait=0.2)
    process.kill()
    process.communicate()
    with alone(long, wait=0):
        pass


def test_what_a_killed_process_left_is_removed(long: Run):
    """Temporary files go, everything else stays."""
    for folder in (long.work, long.folder):
        folder.mkdir(parents=True)
        for name in (".checkpoint.pt.a1_b2c3d", ".hidden", "kept.a1b2c3d4"):
            (folder / name).touch()
    with alone(long):
        pass
    assert {path.name for path in long.folder.iterdir()} == {".hidden", "kept.a1b2c3d4"}
    assert left_over(long) == []


def test_a_file_system_without_locks_is_a_warning(long: Run, monkeypatch, caplog):
    """Training goes on; temporary files stay, since they may be another's."""

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(FileLock, "acquire", refuse)
    long.work.mkdir(parents=True)
    (long.work / ".checkpoint.pt.a1b2c3d4").touch()
    with alone(long):
        assert len(left_over(long)) == 1
    assert "cannot be locked" in caplog.text


def test_runs_at_once_are_as_those_one_after_the_other(project: Path):
    """Seeds and studies that train together never touch each other's files."""
    runs = [
        find_run(prepared(project, name, seeds=[0, 1], variants=[VIT]), VIT, seed)
        for name, seed in (("one", 0), ("one", 1), ("two", 0))
    ]
    together = [started(run) for run in runs]
    for process in together:
        _, said = process.communicate(timeout=2 * WAIT)
        assert process.returncode == 0, said
    found = [numbers_of(run.folder) for run in runs]
    for run, numbers in zip(runs, found, strict=True):
        shutil.rmtree(run.folder)
        shutil.rmtree(run.work)
        train_run(run)
        assert_equal_bit_for_bit(numbers, numbers_of(run.folder))


# Checkpoints


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:300])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def damaged(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def foreign(path: Path) -> None:
    path.write_text("<html>")


def other_settings(path: Path) -> None:
    checkpoints.save(path, checkpoints.load(path) | {"fingerprint": "other"})


def other_code(path: Path) -> None:
    content = checkpoints.load(path)
    content["model"]["renamed"] = content["model"].pop("head.weight", torch.ones(1))
    checkpoints.save(path, content)


def other_history(path: Path) -> None:
    content = checkpoints.load(path)
    del content["history"][0]["seconds"]
    checkpoints.save(path, content)


def other_optimizer(path: Path) -> None:
    content = checkpoints.load(path)
    content["optimizer"]["param_groups"] = []
    checkpoints.save(path, content)


def test_checkpoints_that_cannot_be_gone_on_from(project: Path):
    """Case D07: each is named, kept under a name of its own, and survived."""
    run = find_run(prepared(project), VIT, 0)
    train_run(run)
    expected = numbers_of(run.folder)
    checkpoint = run.work / "checkpoint.pt"
    spoils: tuple[Callable[[Path], None], ...] = (
        *(torn, empty, damaged, foreign, other_settings, other_code),
        *(other_history, other_optimizer),
    )
    kept = []
    for number, spoil in enumerate(spoils, 1):
        spoil(checkpoint)
        kept.append(checkpoint.read_bytes())
        with pytest.warns(
            UserWarning, match=rf"checkpoint\.pt .*aside-{number}, start"
        ):
            metrics = train_run(run)
        assert len(metrics["sessions"]) == 1
        assert_equal_bit_for_bit(expected, numbers_of(run.folder))
    aside = [
        run.work / f"checkpoint.pt.set-aside-{number}"
        for number in range(1, len(spoils) + 1)
    ]
    assert [path.read_bytes() for path in aside] == kept


def test_what_a_card_has_written_opens_without_one(project: Path, monkeypatch):
    """Case D15: a run that a GPU trained is tested and gone on with on a CPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    run = find_run(prepared(project), VIT, 0)
    train_run(run)
    expected, accuracy = numbers_of(run.folder), evaluate_run(run)
    with monkeypatch.context() as patched:
        patched.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
        for path in (run.folder / "model.pt", run.work / "checkpoint.pt"):
            checkpoints.save(path, checkpoints.load(path))
            with pytest.raises(RuntimeError, match="CUDA"):
                torch.load(path, weights_only=True)
    assert evaluate_run(run) == accuracy
    metrics = train_run(run)
    assert [session["first_epoch"] for session in metrics["sessions"]] == [1]
    assert_equal_bit_for_bit(expected, numbers_of(run.folder))


def test_a_tracked_run_that_was_killed_goes_on_under_its_id(project: Path):
    """Its parts become one run at Weights & Biases."""
    training = {**LONG, "epochs": 20, "wandb": "offline"}
    run = find_run(prepared(project, training=training), VIT, 0)
    process = started(run)
    wait_for_an_epoch(run, process)
    process.kill()
    process.communicate()
    done = subprocess.run(command_of(run), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    parts = sorted((run.work / "wandb").glob("offline-run-*"))
    assert len(parts) == 2
    assert len({path.name.split("-", 3)[3] for path in parts}) == 1
    metrics = json.loads((run.folder / "metrics.json").read_text())
    assert metrics["wandb_run"].endswith(parts[1].name)


# All of it


@pytest.mark.skipif(
    bool(os.environ.get("REATTN_CI")), reason="there `make torture` kills more often"
)
def test_a_study_that_is_killed_again_and_again(tmp_path: Path):
    """Case D06: the same command completes it, with no unlocking, to the same bits."""
    variants = ("vit", "resnet18")
    tortured = torture.torture(tmp_path, 2, int(time.time()), variants)
    assert len(tortured.killed) >= 2
