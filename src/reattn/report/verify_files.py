"""Whether the files of a study are those that its manifest lists."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from reattn.files import sha256_of
from reattn.report.manifest import Entry, files_to_list

# What a clone and an archive hold of a study; figures, for one, they do not.
KEPT = ("data", "measure", "report", "runs", "tables")


def absent_kinds(results: Path, entries: Sequence[Entry]) -> dict[str, int]:
    """Folders that a clone does not hold and that are not here: files listed in each.

    A folder that is here in part is no such folder: what it lacks is missing.
    """
    listed = Counter(entry.path.split("/")[0] for entry in entries)
    return {
        folder: count
        for folder, count in sorted(listed.items())
        if folder not in KEPT and not (results / folder).exists()
    }


def file_faults(
    results: Path, entries: Sequence[Entry], absent: Sequence[str]
) -> list[str]:
    """One sentence for each file that is missing, changed, or not listed.

    Args:
        results: The study's folder.
        entries: What its manifest lists.
        absent: Folders whose files are left out, see `absent_kinds`.
    """
    faults = []
    for entry in entries:
        if entry.path.split("/")[0] not in absent:
            faults += _faults_of(results / entry.path, entry)
    listed = {entry.path for entry in entries}
    faults += [
        f"{name}: not listed, but here"
        for name in files_to_list(results)
        if name not in listed
    ]
    return faults


def _faults_of(path: Path, entry: Entry) -> list[str]:
    if not path.is_file():
        return [f"{entry.path}: missing"]
    size = path.stat().st_size
    if size != entry.size:
        return [f"{entry.path}: changed, {size} bytes instead of {entry.size}"]
    if sha256_of(path) != entry.sha256:
        return [f"{entry.path}: changed, another SHA-256 at the same size"]
    return []
