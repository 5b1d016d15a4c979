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

log = logging.getLogger(__name__)

PATIENCE = 60.0  # seconds that the tracker may take for one call


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
        self._run = None
        self.link: str | None = None
        if mode == "off":
            return
        self._run = _patiently(
            lambda: _start(mode, name, group, config, folder), "start"
        )
        if self._run is not None:
            self.link = self._run.url or shown(Path(self._run.dir).parent)

    def log(self, epoch: int, values: dict[str, float | None]) -> None:
        """Log one epoch's metrics; those that are None are left out."""
        if self._run is None:
            return
        known = {key: value for key, value in values.items() if value is not None}
        _patiently(lambda: self._run.log(known, step=epoch), "log")

    def finish(self, summary: dict[str, Any]) -> None:
        """Store the final numbers and close the run."""
        if self._run is None:
            return
        _patiently(lambda: _finish(self._run, summary), "finish")


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
            init_timeout=PATIENCE / 2,
        ),
    )


def _finish(run: Any, summary: dict[str, Any]) -> bool:
    run.summary.update(summary)
    run.finish()
    return True


def _patiently(call: Callable[[], Any], what: str) -> Any:
    """The call's result, or None when it fails or takes too long."""
    result: list[Any] = []

    def attempt() -> None:
        try:
            result.append(call())
        except BaseException as fault:
            log.warning("Weights & Biases could not %s: %s", what, fault)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if thread.is_alive():
        log.warning("Weights & Biases took over %d s to %s; left it", PATIENCE, what)
    return result[0] if result else None
