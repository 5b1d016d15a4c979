"""manifest.json: every file of a study that stands for its results."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reattn.config.paths import shown
from reattn.errors import ReattnError
from reattn.files import read_json, sha256_of, write_json

PATTERNS = (
    "data/data.json",
    "tables/**/*",
    "figures/**/*",
    "measure/**/*",
    "report/**/*",
    "runs/*/seed*/status.json",
    "runs/*/seed*/metrics.json",
    "runs/*/seed*/history.csv",
)
NAME = "manifest.json"


@dataclass(frozen=True)
class Entry:
    """A file: its path from the study's folder, size in bytes, SHA-256 in hex."""

    path: str
    size: int
    sha256: str


def files_to_list(results: Path) -> list[str]:
    """Paths, from a study's folder, of all files that its manifest lists."""
    own = results / "report" / NAME
    return sorted(
        {
            path.relative_to(results).as_posix()
            for pattern in PATTERNS
            for path in results.glob(pattern)
            if path.is_file() and path != own and not path.name.startswith(".")
        }
    )


def write_manifest(study: str, results: Path) -> None:
    """List size and SHA-256 of each file, sorted by path, in report/manifest.json."""
    files = [
        {
            "path": name,
            "size": (results / name).stat().st_size,
            "sha256": sha256_of(results / name),
        }
        for name in files_to_list(results)
    ]
    write_json(results / "report" / NAME, {"study": study, "files": files})


def read_manifest(study: str, results: Path) -> list[Entry]:
    """The files that report/manifest.json lists, in its order.

    Raises:
        ReattnError: it is missing, is no manifest, is another study's, lists a file
            twice, or lists one outside the study's folder.
    """
    path = results / "report" / NAME
    if not path.is_file():
        raise ReattnError(
            f"{shown(path)} is missing: the study is not finished, or its report was "
            f"made of a part. Make it: snakemake --cores 2 --config study={study}"
        )
    content = read_json(path)
    listed = content.get("files") if isinstance(content, dict) else None
    if not isinstance(listed, list) or not all(_is_entry(entry) for entry in listed):
        raise _unsound(study, path, "it does not list path, size and sha256 of files")
    if content.get("study") != study:
        raise _unsound(study, path, f"it is of study {content.get('study')!r}")
    names = [entry["path"] for entry in listed]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise _unsound(study, path, f"it lists {', '.join(repeated)} twice")
    return [Entry(entry["path"], entry["size"], entry["sha256"]) for entry in listed]


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    path, size, digest = (entry.get(key) for key in ("path", "size", "sha256"))
    return (
        isinstance(path, str)
        and not path.startswith("/")
        and ".." not in path.split("/")
        and type(size) is int
        and isinstance(digest, str)
        and re.fullmatch("[0-9a-f]{64}", digest) is not None
    )


def _unsound(study: str, path: Path, fault: str) -> ReattnError:
    fix = f"python -m reattn report {study} --no-refresh"
    return ReattnError(f"{shown(path)}: {fault}. Write it anew: {fix}")
