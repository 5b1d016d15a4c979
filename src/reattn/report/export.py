"""A finished study in one archive, with all that says how it was made."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reattn.config.paths import project_root, results_folder, shown
from reattn.config.resolution import load_resolved
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.errors import ReattnError
from reattn.report.archive import write_archive
from reattn.report.export_text import describe
from reattn.report.manifest import NAME, read_manifest
from reattn.report.verify import verify_study
from reattn.report.verify_files import KEPT

ENVIRONMENT = ("environment.yml", "requirements.lock", "pyproject.toml")
RIGHTS = ("CITATION.cff", "LICENSE")
RULES = ("config/claims.yaml", "config/published.yaml", "config/deviations.yaml")
# Nothing else leaves: no weight, no array, no image of a data set.
KINDS = {".csv", ".json", ".html", ".pdf", ".md"}
SUFFIXES = (".tar.gz", ".tgz")


def export_study(study: str, to: Path | None = None) -> tuple[Path, int]:
    """Pack a finished study, whole or not at all, after checking it.

    Args:
        study: Its name.
        to: The archive; None: reattn-<study>.tar.gz in the study's folder.

    Returns:
        The archive, and how many files it holds.

    Raises:
        ReattnError: `verify` finds a fault, a file that belongs into the archive is
            missing, or `to` does not name a .tar.gz file.
    """
    to = to or results_folder(study) / f"reattn-{study}.tar.gz"
    if to.is_dir() or not to.name.endswith(SUFFIXES):
        raise ReattnError(
            f"--to {to}: not the name of an archive. Give a file that ends in "
            f"{' or '.join(SUFFIXES)}, for example reattn-{study}.tar.gz."
        )
    verify_study(study)
    settings, variants = load_resolved(study)
    contents = {name: _content(path) for name, path in _files(study, variants)}
    contents["settings.json"] = _resolved(settings, variants)
    text = describe(study, settings, _metrics(contents))
    contents["README.md"] = text.encode()
    return to, write_archive(to, f"reattn-{study}", contents)


def _files(study: str, variants: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Names in the archive, which are those of the project, and files."""
    root, results = project_root(), results_folder(study)
    configuration = (
        *RULES,
        f"config/studies/{study}.yaml",
        *(f"config/variants/{name}.yaml" for name in variants),
    )
    for name in (*ENVIRONMENT, *RIGHTS, *configuration):
        yield name, root / name
    listed = [entry.path for entry in read_manifest(study, results)]
    kept = [name for name in listed if name.split("/")[0] in KEPT]
    if others := [name for name in kept if Path(name).suffix not in KINDS]:
        raise ReattnError(
            f"results/{study}: {', '.join(others)}: not of the kinds that an archive "
            f"holds ({', '.join(sorted(KINDS))}). Move it elsewhere, then: python -m "
            f"reattn report {study}"
        )
    for name in (*kept, f"report/{NAME}"):
        yield f"results/{study}/{name}", results / name


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ReattnError(
            f"{shown(path)} is missing and belongs into the archive. Bring it back, "
            f"for example: git checkout -- {shown(path)}"
        ) from None


def _resolved(settings: Study, variants: Mapping[str, Variant]) -> bytes:
    """The study and its variants, defaults filled in and overrides applied."""
    content = {
        "study": settings.model_dump(mode="json"),
        "variants": {name: v.model_dump(mode="json") for name, v in variants.items()},
    }
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def _metrics(contents: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """What each run says of itself; a run that cannot be read says nothing."""
    texts = [text for name, text in contents.items() if name.endswith("/metrics.json")]
    found = []
    for text in texts:
        with contextlib.suppress(ValueError):
            found.append(json.loads(text))
    return [metrics for metrics in found if isinstance(metrics, dict)]
