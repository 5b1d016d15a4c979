"""Whether a finished study is what its manifest and its page say."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reattn.config.paths import results_folder
from reattn.errors import ReattnError
from reattn.report.manifest import NAME, read_manifest
from reattn.report.page_parts import parts_of
from reattn.report.verify_files import absent_kinds, file_faults
from reattn.report.verify_page import external_links, page_faults

PAGE = "report/report.html"


@dataclass(frozen=True)
class Verified:
    """What was found of a study without a fault.

    Attributes:
        study: Its name.
        files: How many files have the size and the digest that is listed.
        absent: Folders that a clone does not hold, and how many files are listed in
            each.
        anchors: How many links of the page lead to a place on it.
        external: Addresses that the page links to; none of them was fetched.
    """

    study: str
    files: int
    absent: dict[str, int]
    anchors: int
    external: list[str]

    def __str__(self) -> str:
        absent = "".join(
            f"; {folder}: {count} files are not here (clones and archives hold none)"
            for folder, count in self.absent.items()
        )
        return (
            f"{self.study}: {self.files} files checked{absent}; the page: "
            f"{self.anchors} links inside lead somewhere, {len(self.external)} to "
            "other places are well formed and not fetched, nothing would be loaded."
        )


def verify_study(study: str, results: Path | None = None) -> Verified:
    """Check every file of a study against its manifest, and every link of its page.

    Args:
        study: Its name.
        results: Its folder; None: results/<study>.

    Raises:
        ReattnError: all faults together, each with the file, and how to mend them.
    """
    results = results or results_folder(study)
    entries = read_manifest(study, results)
    absent = absent_kinds(results, entries)
    faults = file_faults(results, entries, list(absent))
    if not (results / PAGE).is_file():
        raise _fault(study, faults or [f"{PAGE}: missing"])
    parts = parts_of((results / PAGE).read_text(encoding="utf-8", errors="replace"))
    faults += [f"{PAGE}: {fault}" for fault in page_faults(parts, results / "report")]
    if faults:
        raise _fault(study, faults)
    return Verified(
        study=study,
        files=len(entries) - sum(absent.values()),
        absent=absent,
        anchors=sum(link.startswith("#") for link in parts.links),
        external=external_links(parts),
    )


def _fault(study: str, faults: Sequence[str]) -> ReattnError:
    heading = f"{len(faults)} fault{'s' if len(faults) != 1 else ''} in study {study}:"
    return ReattnError(
        "\n  - ".join([heading, *faults])
        + f"\nWhat was changed or lost by accident, bring back: git checkout -- "
        f"results/{study}, where git keeps it. What was changed on purpose needs "
        f"another report, which writes {NAME} anew: python -m reattn report {study}"
    )
