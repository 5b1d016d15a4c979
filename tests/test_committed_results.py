"""The results in the repository: small, complete, and what their runs say."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

from reattn.claims import judge_claims
from reattn.config import load_resolved
from reattn.config.paths import TABLES
from reattn.files import sha256_of
from reattn.tables import make_tables

LIMIT = 10 * 2**20
KINDS = {".csv", ".json", ".html", ".pdf", ".md"}


def committed_files(study: str = "") -> list[Path]:
    """What git keeps of results, or of one study's."""
    listed = subprocess.run(
        ["git", "ls-files", f"results/{study}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return [ROOT / line for line in listed.stdout.splitlines()]


COMMITTED = sorted({path.relative_to(ROOT).parts[1] for path in committed_files()})


def test_a_study_on_real_images_is_there():
    """A reviewer can read results without making any."""
    assert "cifar10-cpu" in COMMITTED


@pytest.mark.parametrize("study", COMMITTED)
def test_it_holds_no_weights_images_or_arrays(study: str):
    """And is small enough to be cloned by everybody."""
    files = committed_files(study)
    assert {path.suffix for path in files} <= KINDS
    assert sum(path.stat().st_size for path in files) < LIMIT


@pytest.mark.parametrize("study", COMMITTED)
def test_tables_are_what_the_runs_give(study: str, tmp_path: Path):
    """Made again from the committed runs, they have the same bytes."""
    source = ROOT / "results" / study
    for part in ("runs", "measure", "data"):
        shutil.copytree(
            source / part,
            tmp_path / part,
            ignore=shutil.ignore_patterns("*.npz", "*.npy", "*.pt", "*.gz"),
        )
    settings, variants = load_resolved(study)
    # By the code of their own time; today's marks them stale when it has changed.
    make_tables(settings, variants, tmp_path, check_code=False)
    judge_claims(settings, variants, tmp_path, check_code=False)
    tables = sorted((source / "tables").glob("*.csv"))
    assert {table.stem for table in tables} == set(TABLES)
    for table in tables:
        made = (tmp_path / "tables" / table.name).read_bytes()
        assert made == table.read_bytes(), table.name


@pytest.mark.parametrize("study", COMMITTED)
def test_the_manifest_holds_for_what_is_committed(study: str):
    """Every committed file but the manifest itself is listed, with its digest."""
    folder = ROOT / "results" / study
    manifest = json.loads((folder / "report" / "manifest.json").read_text())
    entries = manifest["files"] if isinstance(manifest, dict) else manifest
    digests = {entry["path"]: entry["sha256"] for entry in entries}
    committed = {path.relative_to(folder).as_posix() for path in committed_files(study)}
    for name in committed & digests.keys():
        assert sha256_of(folder / name) == digests[name], name
    listed = ("tables/", "runs/", "report/report")
    missing = {n for n in committed if n.startswith(listed)} - digests.keys()
    assert not missing


@pytest.mark.parametrize("study", COMMITTED)
def test_a_reduced_study_says_so_in_its_report(study: str):
    """Beside its numbers, with what its images are."""
    settings, _ = load_resolved(study)
    text = (ROOT / "results" / study / "report" / "report.md").read_text()
    if settings.reduced:
        assert text.count("reduced study") > 5
        assert "A reduced study" in text
    if settings.data.note:
        assert settings.data.note.split(". ")[0] in text
