"""The state of a run between epochs, on disk."""

import warnings
from pathlib import Path
from typing import Any

import torch

from reattn.errors import CheckpointError
from reattn.files import written_whole

STATE = {"model", "optimizer", "micro_batch", "history", "sessions"}
PLAIN = (str, int, float, bool, type(None), torch.Tensor)


def save(path: Path, content: dict[str, Any]) -> None:
    """Write tensors and plain values, whole or not at all.

    Raises:
        TypeError: the content holds something that a load with
            `weights_only=True` would refuse; it names the place.
    """
    _require_plain(content, "checkpoint")
    with written_whole(path) as temporary:
        torch.save(content, temporary)


def _require_plain(value: Any, place: str) -> None:
    if isinstance(value, dict):
        for key, member in value.items():
            _require_plain(key, f"{place} key {key!r}")
            _require_plain(member, f"{place}[{key!r}]")
    elif isinstance(value, list | tuple):
        for index, member in enumerate(value):
            _require_plain(member, f"{place}[{index}]")
    elif type(value) not in PLAIN and not isinstance(value, torch.Tensor):
        raise TypeError(f"{place} is a {type(value).__name__}; it could not be loaded")


def load(path: Path) -> dict[str, Any]:
    """Read a checkpoint onto the CPU.

    Raises:
        CheckpointError: the file is torn or is not one of ours.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as fault:
        first, *_ = [*str(fault).splitlines(), type(fault).__name__]
        raise CheckpointError(f"{path} cannot be read: {first}") from None
    if not isinstance(content, dict) or "model" not in content:
        raise CheckpointError(f"{path} cannot be read: it holds no model")
    return content


def resume(path: Path, fingerprint: str) -> dict[str, Any] | None:
    """The checkpoint of an interrupted run, or None to start afresh.

    A torn or foreign file and one of other settings are set aside under another
    name, with a warning, so that nothing is lost and nothing wrong is resumed.
    """
    if not path.exists():
        return None
    try:
        content = load(path)
        if content.get("fingerprint") == fingerprint and content.keys() >= STATE:
            return content
        problem = f"{path} was made with other settings or data"
    except CheckpointError as fault:
        problem = str(fault)
    aside = path.with_name(f"{path.name}.set-aside")
    path.replace(aside)
    warnings.warn(f"{problem}; kept as {aside.name}, starting afresh.", stacklevel=2)
    return None
