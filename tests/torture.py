"""Kills a small study at random moments and compares it with an unbroken one.

    python tests/torture.py --kills 20

A training and Snakemake itself are killed in turn, then the same command is given
again, until nothing is left to do. Every metric, history, prediction and weight must
then be that of the unbroken study, to the last bit. Needs neither a GPU nor a network;
cards are pretended.
"""

import argparse
import fcntl
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from conftest import TINY, copy_project, write_study
from run_numbers import assert_equal_bit_for_bit, numbers_of

from reattn.files import TEMPORARY, read_json

STUDY = "torture"
VARIANTS = ("vit", "learned2d-9h-content", "san-pairwise", "resnet18")
CARDS = ("card-a", "card-b")
TRAINING = {
    **TINY["training"],
    **{"device": "gpu", "epochs": 30, "epoch_images": 320, "threads": 1},
}
MANY = 10  # kills, of which one at least must hit a run that goes on
PATIENCE = 25.0  # seconds within which everything of a killed workflow must be gone
LONGEST = 600.0  # seconds that an undisturbed study may take
# Half of the kills leave no time for anything; a terminal's Ctrl-C goes to all.
SIGNALS = (
    *(signal.SIGKILL,) * 3,
    *(signal.SIGTERM, signal.SIGHUP, signal.SIGINT),
)
EPOCH = re.compile(rf"{STUDY}/(\S+) epoch (\d+)/")


@dataclass
class Project:
    """A project with the study, and what has been done to it.

    Attributes:
        folder: The project.
        variants: The variants of the study, one run each.
        chance: Where random moments, victims and signals come from.
        killed: One line a kill that hit.
        resumptions: How often a run went on after a kill, in studies that are done.
        reached: The last epoch that each run has logged as finished, and the first
            line of that log, by which another attempt's log is told apart.
    """

    folder: Path
    variants: tuple[str, ...]
    chance: random.Random
    killed: list[str] = field(default_factory=list)
    resumptions: int = 0
    reached: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def results(self) -> Path:
        """Everything that the study makes."""
        return self.folder / "results" / STUDY

    @property
    def leases(self) -> Path:
        """Where cards are held."""
        return self.folder.parent / "leases"

    def start(self) -> subprocess.Popen:
        """Give the command, in a session of its own, as at another terminal."""
        binaries = Path(sys.executable).parent
        environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(binaries), os.environ["PATH"]]),
            "REATTN_PRETENDED_CARDS": ",".join(CARDS),
            "REATTN_LEASES": str(self.leases),
        }
        targets = [f"results/{STUDY}/runs/{v}/seed0/status.json" for v in self.variants]
        with (self.folder / "snakemake.log").open("a") as log:
            return subprocess.Popen(
                [
                    *(binaries / "snakemake", *targets, "--cores", "2"),
                    *("--resources", f"gpu={len(CARDS)}", "--config", f"study={STUDY}"),
                ],
                cwd=self.folder,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def processes(self) -> list[psutil.Process]:
        """Everything that runs in the project's folder."""
        found = []
        for process in psutil.process_iter(["cwd", "status"]):
            here = process.info["cwd"] == str(self.folder)
            if here and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process)
        return found

    def trainings(self) -> dict[str, psutil.Process]:
        """The processes that train, by variant."""
        found = {}
        for process in self.processes():
            try:
                _, *arguments = process.cmdline() or [""]
            except psutil.NoSuchProcess:
                continue
            if arguments[:3] == ["-m", "reattn", "train"]:
                found[arguments[4]] = process
        return found

    def lines(self) -> Counter:
        """How often each epoch of each run was logged as finished."""
        logs = self.results.glob("logs/train_model/*.log")
        return Counter(
            found for log in logs for found in EPOCH.findall(log.read_text())
        )

    def require_progress(self) -> None:
        """No attempt begins with an epoch that an earlier one has finished."""
        for log in self.results.glob("logs/train_model/*.log"):
            text = log.read_text()
            epochs = [int(number) for _, number in EPOCH.findall(text)]
            if not epochs:
                continue
            last, head = self.reached.get(log.stem, (0, ""))
            if text.partition("\n")[0] != head:
                assert min(epochs) > last, f"{log.stem}: epoch {min(epochs)} again"
            self.reached[log.stem] = max(epochs), text.partition("\n")[0]

    def start_over(self) -> None:
        """Forget the study."""
        shutil.rmtree(self.results)
        self.reached.clear()

    def hit(self, number: int, victim: str) -> None:
        """Keep and print a kill that hit."""
        self.killed.append(f"{signal.Signals(number).name} to {victim}")
        print(f"{len(self.killed):3} {self.killed[-1]}", flush=True)

    def place(self, variant: str) -> str:
        """How far a run is."""
        finished = sum(1 for run, _ in self.lines() if run.startswith(f"{variant}/"))
        return f"{variant} after epoch {finished}"

    def run(self, variant: str) -> Path:
        """The outputs of a variant's run."""
        return self.results / "runs" / variant / "seed0"

    def numbers(self) -> dict[str, Any]:
        """The numbers of every run."""
        return {variant: numbers_of(self.run(variant)) for variant in self.variants}

    def resumed(self) -> int:
        """How often a run went on after an epoch that it had finished before."""
        metrics = [read_json(self.run(v) / "metrics.json") for v in self.variants]
        return sum(len(content["sessions"]) - 1 for content in metrics)


def wait_until(
    condition: Callable[[], Any], seconds: float, step: float = 0.1
) -> Any | None:
    """The first true value of a condition, or None when time is up."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            return None
        time.sleep(step)
    return value


def kill_a_training(project: Project, workflow: subprocess.Popen) -> None:
    """Kill a training: every other time not before an epoch more is finished."""
    finished = project.lines().total()
    late = project.chance.random() < 0.5
    wait_until(
        lambda: (
            workflow.poll() is not None
            or (project.lines().total() > finished if late else project.trainings())
        ),
        LONGEST,
    )
    time.sleep(project.chance.uniform(0, 4))
    trainings = project.trainings()
    if not trainings:
        return
    variant = project.chance.choice(sorted(trainings))
    number = project.chance.choice(SIGNALS)
    place = f"training {project.place(variant)}"
    try:
        trainings[variant].send_signal(number)
    except psutil.NoSuchProcess:
        return
    project.hit(number, place)
    gone = wait_until(lambda: not trainings[variant].is_running(), PATIENCE)
    assert gone, f"{variant} outlives {number!r}"


def kill_snakemake(
    project: Project, workflow: subprocess.Popen, seconds: float
) -> None:
    """Kill Snakemake after some time; everything that it started must go too."""
    try:
        workflow.wait(project.chance.uniform(0, seconds))
        return
    except subprocess.TimeoutExpired:
        pass
    number = project.chance.choice(SIGNALS)
    places = [project.place(variant) for variant in sorted(project.trainings())]
    project.hit(number, f"snakemake, training {' and '.join(places) or 'nothing'}")
    if number == signal.SIGINT:
        os.killpg(workflow.pid, number)
    else:
        workflow.send_signal(number)
    try:
        # Snakemake waits for its jobs; a machine that shuts down does not.
        workflow.wait(3)
    except subprocess.TimeoutExpired:
        workflow.kill()
        workflow.wait()


def require_nothing_left(project: Project) -> None:
    """No process, no lock and no card is left over from a killed workflow."""
    if not wait_until(lambda: not project.processes(), PATIENCE):
        left = [process.cmdline() for process in project.processes()]
        raise AssertionError(f"still there after {PATIENCE:.0f} s: {left}")
    locks = [
        *project.results.glob("work/*.lock"),
        *project.results.glob("work/*/*/lock"),
        *(path for path in project.leases.glob("**/*") if path.is_file()),
    ]
    for path in locks:
        with path.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def require_as_unbroken(project: Project, unbroken: dict[str, Any]) -> None:
    """The same bits, no temporary file left."""
    for variant, numbers in project.numbers().items():
        try:
            assert_equal_bit_for_bit(unbroken[variant], numbers)
        except AssertionError as fault:
            raise AssertionError(f"{variant} differs: {fault}") from None
    files = [*project.results.glob("runs/**/*"), *project.results.glob("work/**/*")]
    left = [path for path in files if TEMPORARY.fullmatch(path.name)]
    assert not left, f"left over: {left}"
    project.resumptions += project.resumed()


def finish(project: Project) -> None:
    """Give the command once more and let it end."""
    code = project.start().wait(LONGEST)
    log = (project.folder / "snakemake.log").read_text()
    assert code == 0, f"the same command ends with {code}:\n{log[-3000:]}"


def torture(
    folder: Path, kills: int, seed: int, variants: tuple[str, ...] = VARIANTS
) -> Project:
    """Kill, give the same command again, compare.

    Args:
        folder: An empty folder to work in.
        kills: How many kills must hit.
        seed: Of moments, victims and signals; what they hit depends on the machine.
        variants: The variants to train.

    Returns:
        The project, with one line a kill.

    Raises:
        AssertionError: something was lost, differs, or outlived its workflow.
    """
    chance = random.Random(seed)
    project = Project(copy_project(folder / "project"), variants, chance)
    write_study(project.folder, STUDY, variants=list(variants), training=TRAINING)
    finish(project)
    unbroken = project.numbers()
    project.start_over()
    while len(project.killed) < kills:
        workflow = project.start()
        if len(project.killed) % 2 == 0:
            kill_a_training(project, workflow)
        kill_snakemake(project, workflow, seconds=4)
        require_nothing_left(project)
        project.require_progress()
        if workflow.returncode == 0:
            require_as_unbroken(project, unbroken)
            project.start_over()
    finish(project)
    project.require_progress()
    require_as_unbroken(project, unbroken)
    return project


def main() -> None:
    """Torture a study; exit with 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    try:
        project = torture(folder, options.kills, options.seed)
    except AssertionError as fault:
        sys.exit(f"Something was lost: {fault}\nAll of it is kept in {folder}.")
    shutil.rmtree(folder)
    seconds = time.monotonic() - started
    if options.kills >= MANY and not project.resumptions:
        sys.exit(f"No run went on after any of {len(project.killed)} kills.")
    print(
        f"{len(project.killed)} kills in {seconds:.0f} s. Runs went on after a "
        f"finished epoch {project.resumptions} times; no such epoch was trained twice. "
        f"Every number of {len(VARIANTS)} runs is that of an unbroken study, to the "
        "last bit."
    )


if __name__ == "__main__":
    main()
