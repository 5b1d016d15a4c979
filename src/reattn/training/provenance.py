"""Where a run's numbers came from."""

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from reattn.cards import held
from reattn.config.paths import project_root

PACKAGES = ("numpy", "torch", "torchvision", "pillow", "scikit-learn")


def commit() -> str | None:
    """The commit of the project, marked `-dirty` with uncommitted changes.

    Results do not count: a study that is committed is trained again over its own
    files, by the code that the commit holds.
    """
    head = _git("rev-parse", "HEAD")
    if not head:
        return None
    tracked = ("status", "--porcelain", "--untracked-files=no")
    changes = _git(*tracked, "--", ".", ":(exclude)results")
    return head if changes == "" else f"{head}-dirty"


def _git(*arguments: str) -> str | None:
    """What git answers; None where it fails, hangs or is not installed."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=project_root(),
            capture_output=True,
            text=True,
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout.strip()


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that do the arithmetic."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def device_name(device: torch.device) -> str:
    """The processor or card, by its maker's name."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    card = held()
    if card is not None and card.pretended:
        return f"{cpu_name()}, in place of the pretended card {card.id}"
    return cpu_name()


def cpu_name() -> str:
    """The processor's model name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


def _determinism() -> str:
    if not torch.are_deterministic_algorithms_enabled():
        return "off"
    warned = torch.is_deterministic_algorithms_warn_only_enabled()
    return "on where torch has them" if warned else "on"


def provenance(device: torch.device, code: str) -> dict[str, Any]:
    """Everything above, and the digest of the code, as metrics.json keeps it."""
    return {
        "commit": commit(),
        "code_hash": code,
        "versions": versions(),
        "device": device_name(device),
        "device_type": device.type,
        "deterministic_algorithms": _determinism(),
    }
