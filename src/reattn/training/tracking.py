"""Weights & Biases, kept at arm's length.

Whatever the tracker does, the training goes on: every call is made in a thread
that is given up when it takes too long, and no exception of it gets through.
"""

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from reattn.config.paths import shown
from reattn.config.runs import Run
from reattn.training.history import Epoch

log = logging.getLogger(__name__)

# Seconds that the tracker may take to start, and for every other call.
STARTING = 45.0
PATIENCE = 15.0


class Tracker:
    """Logs a run's metrics to Weights & Biases, or nowhere.

    A run that is continued keeps its id, so that its parts become one run there.

    Attributes:
        link: The run's address, or its offline folder; None without one.

    Args:
        mode: `off`, `offline` or `online`.
        name: The run's name.
        group: Runs that belong together: the study.
        config: Settings to store with the run.
        folder: Where the tracker keeps its files.
    """

    def __init__(
        self,
        mode: Literal["off", "offline", "online"],
        *,
        name: str,
        group: str,
        config: dict[str, Any],
        folder: Path,
    ):
        self._run: Any = None
        self._left = mode == "off"
        self.link: str | None = None
        self._try("start", lambda: self._start(mode, name, group, config, folder))

    def _start(
        self, mode: str, name: str, group: str, config: dict[str, Any], folder: Path
    ) -> None:
        run = _start(mode, name, group, config, folder)
        self.link = run.url or shown(Path(run.dir).parent)
        self._run = run

    def epoch(self, line: Epoch) -> None:
        """Log one epoch's metrics; those that are None are left out."""
        known = {key: value for key, value in _metrics(line) if value is not None}
        self._try("log", lambda: self._run and self._run.log(known, step=line.epoch))

    def finish(self, summary: dict[str, Any]) -> None:
        """Store the final numbers and close the run."""
        self._try("finish", lambda: self._run and _finish(self._run, summary))

    def _try(self, what: str, call: Callable[[], Any]) -> None:
        """Make a call of the tracker; one that hangs is the last one."""
        if self._left:
            return
        patience = STARTING if what == "start" else PATIENCE
        thread = threading.Thread(target=_attempt, args=(what, call), daemon=True)
        thread.start()
        thread.join(patience)
        if thread.is_alive():
            self._left = True
            log.warning(
                "Weights & Biases took over %.0f s to %s; going on without it.",
                *(patience, what),
            )


def _start(mode: str, name: str, group: str, config: dict, folder: Path) -> Any:
    os.environ.setdefault("WANDB_SILENT", "true")
    import wandb

    folder.mkdir(parents=True, exist_ok=True)
    return wandb.init(
        project="reattn",
        name=name,
        group=group,
        config=config,
        id="-".join([*name.split("/"), config["fingerprint"]]),
        resume="allow",
        dir=str(folder),
        mode=mode,
        settings=wandb.Settings(
            console="off",
            x_disable_stats=True,
            disable_git=True,
            save_code=False,
            init_timeout=STARTING * 2 / 3,
        ),
    )


def _finish(run: Any, summary: dict[str, Any]) -> None:
    run.summary.update(summary)
    run.finish()


def _attempt(what: str, call: Callable[[], Any]) -> None:
    try:
        call()
    except BaseException as fault:
        log.warning("Weights & Biases could not %s: %s", what, fault)


def tracker_of(run: Run) -> Tracker:
    """The tracker that a run's study asks for."""
    return Tracker(
        run.study.training.wandb,
        name=run.name,
        group=run.study_name,
        config={
            "model": run.variant.model.model_dump(),
            "recipe": run.variant.recipe.model_dump(),
            "training": run.study.training.model_dump(),
            "seed": run.seed,
            "fingerprint": run.fingerprint,
        },
        folder=run.work,
    )


def _metrics(line: Epoch) -> list[tuple[str, float | None]]:
    return [
        ("learning_rate", line.learning_rate),
        ("train/loss", line.train_loss),
        ("train/accuracy", line.train_accuracy),
        ("test/accuracy_eval", line.test_accuracy_eval),
        ("test/accuracy_authors", line.test_accuracy_authors),
        ("validation/accuracy", line.validation_accuracy),
    ]
