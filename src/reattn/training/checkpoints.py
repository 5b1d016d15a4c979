"""The state of a run between epochs, on disk."""

import io
import warnings
import zipfile
from contextlib import suppress
from itertools import count
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
        ReattnError: the disk is full.
    """
    _require_plain(content, "checkpoint")
    # torch's own writer reports a full disk as a fault of its zip archive.
    buffer = io.BytesIO()
    torch.save(content, buffer)
    with written_whole(path) as temporary:
        temporary.write_bytes(buffer.getbuffer())


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
    """Read a checkpoint onto the CPU, wherever it was written.

    Raises:
        CheckpointError: the file is torn, damaged or not one of ours.
    """
    try:
        _require_whole(path)
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as fault:
        first, *_ = [*str(fault).splitlines(), type(fault).__name__]
        raise CheckpointError(f"{path} cannot be read: {first}") from None
    if not isinstance(content, dict) or not isinstance(content.get("model"), dict):
        raise CheckpointError(f"{path} cannot be read: it holds no model")
    return content


def _require_whole(path: Path) -> None:
    """Compare the checksums inside the file, which torch does not look at."""
    with zipfile.ZipFile(path) as archive:
        broken = archive.testzip()
    if broken is not None:
        raise ValueError(f"the checksum of its part {broken} is wrong")


def resume(path: Path, fingerprint: str) -> dict[str, Any] | None:
    """The checkpoint of an interrupted run, or None to start afresh.

    A torn or foreign file and one of other settings are set aside.
    """
    if not path.exists():
        return None
    try:
        content = load(path)
    except CheckpointError as fault:
        set_aside(path, str(fault))
        return None
    if content.get("fingerprint") != fingerprint or not content.keys() >= STATE:
        set_aside(path, f"{path} was made with other settings or data")
        return None
    return content


def resume_set_aside(path: Path, fingerprint: str) -> dict[str, Any] | None:
    """The newest checkpoint that was set aside and has this fingerprint, or None.

    After a change of settings that was undone, the run goes on where it stood.
    """
    for aside in sorted(path.parent.glob(f"{path.name}.set-aside-*"), key=_age):
        with suppress(CheckpointError):
            content = load(aside)
            if content.get("fingerprint") == fingerprint and content.keys() >= STATE:
                return content
    return None


def _age(path: Path) -> float:
    return -path.stat().st_mtime


def set_aside(path: Path, problem: str) -> None:
    """Give a checkpoint that cannot be resumed a name of its own, with a warning.

    Nothing is lost, not even what was set aside before, and nothing wrong is resumed.

    Args:
        path: The checkpoint.
        problem: What is the matter with it, naming it.
    """
    names = (path.with_name(f"{path.name}.set-aside-{number}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    path.replace(aside)
    warnings.warn(f"{problem}; kept as {aside.name}, starting afresh.", stacklevel=2)
