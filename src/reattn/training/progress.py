"""Progress of a run: a bar on a terminal, plain lines in a log."""

import logging
import sys
import time

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from reattn.training.history import Epoch

log = logging.getLogger(__name__)


class RunProgress:
    """Shows images a second, loss and time left of one run."""

    def __init__(self, name: str, *, epochs: int, done: int, epoch_images: int):
        self._name = name
        self._epochs = epochs
        self._epoch_images = epoch_images
        self._started = time.monotonic()
        self._first = done
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[detail]}"),
            disable=not sys.stderr.isatty(),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(
            name,
            total=epochs * epoch_images,
            completed=done * epoch_images,
            detail="",
        )

    def __enter__(self) -> "RunProgress":
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def step(self, epoch: int, images: int, loss: float) -> None:
        """Count the images of one optimiser step."""
        speed = self._bar.tasks[0].speed or 0
        detail = f"epoch {epoch}/{self._epochs}  loss {loss:.3f}  {speed:.0f} images/s"
        self._bar.update(self._task, advance=images, detail=detail)

    def epoch(self, line: Epoch) -> None:
        """Write one plain line an epoch."""
        elapsed = time.monotonic() - self._started
        left = elapsed / (line.epoch - self._first) * (self._epochs - line.epoch)
        test = line.test_accuracy_eval
        log.info(
            "%s epoch %d/%d  rate %.4g  loss %.4f  train %.2f %%  test %s  "
            "%.0f images/s  %s left",
            self._name,
            line.epoch,
            self._epochs,
            line.learning_rate,
            line.train_loss,
            line.train_accuracy,
            "-" if test is None else f"{test:.2f} %",
            self._epoch_images / max(line.seconds, 1e-9),
            _duration(left),
        )


def _duration(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
