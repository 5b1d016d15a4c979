"""A run names the commit that it ran at, so that a reader can check that code out."""

import subprocess
from pathlib import Path

import pytest

from reattn.training import provenance


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("src/model.py", "results/study/metrics.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("first")
    _git(tmp_path, "init", "--quiet")
    _git(tmp_path, "add", "--all")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    _git(tmp_path, *who, "commit", "--quiet", "--message", "first")
    monkeypatch.setattr(provenance, "project_root", lambda: tmp_path)
    return tmp_path


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_unchanged_code_has_the_commit_alone(project: Path) -> None:
    assert provenance.commit() == _git(project, "rev-parse", "HEAD")


def test_changed_code_is_marked(project: Path) -> None:
    (project / "src/model.py").write_text("second")
    assert provenance.commit() == _git(project, "rev-parse", "HEAD") + "-dirty"


def test_a_staged_change_is_marked(project: Path) -> None:
    (project / "src/model.py").write_text("second")
    _git(project, "add", "--all")
    assert provenance.commit() == _git(project, "rev-parse", "HEAD") + "-dirty"


def test_results_that_are_trained_again_are_no_change_of_the_code(
    project: Path,
) -> None:
    (project / "results/study/metrics.json").write_text("second")
    assert provenance.commit() == _git(project, "rev-parse", "HEAD")


def test_without_a_repository_there_is_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "project_root", lambda: tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert provenance.commit() is None
