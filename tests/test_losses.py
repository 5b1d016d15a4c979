"""A report that is written anew never loses, unasked, what it showed before."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from finished_project import call
from test_committed_results import committed_files

from reattn.errors import ReattnError
from reattn.files import write_text
from reattn.report.explorer import INDEX_TAG
from reattn.report.figures import read_figures
from reattn.report.losses import check_losses, lost_figures

STUDY = "d1-cpu"  # committed with figures of attention and the explorer


@pytest.fixture
def clone(project: Path) -> Path:
    """A project as a fresh clone has it: with what git keeps of a study."""
    for part in ("report", "src"):
        shutil.copytree(
            ROOT / part, project / part, ignore=shutil.ignore_patterns("__pycache__")
        )
    for path in committed_files(STUDY):
        target = project / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    return project / "results" / STUDY


def contents(results: Path) -> dict[str, bytes]:
    return {
        path.relative_to(results).as_posix(): path.read_bytes()
        for path in results.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("options", [[], ["--no-refresh"]])
def test_a_fresh_clone_keeps_the_figures_of_its_reports(clone, options, capsys):
    """Their arrays are elsewhere: one line says what would go, and nothing changes."""
    before = contents(clone)
    assert call("report", STUDY, *options) != 0
    said = capsys.readouterr().err
    assert "the attention explorer" in said
    assert "figures/attention/" in said or "figures/comparison" in said
    assert f"--config study={STUDY}" in said
    assert "Traceback" not in said
    assert contents(clone) == before


def test_whoever_wants_it_without_them_says_so(clone):
    """Then the report is written, and says of every part that it is missing."""
    assert call("report", STUDY, "--no-refresh", "--drop-figures") == 0
    text = (clone / "report" / "report.md").read_text()
    assert lost_figures(clone) == []
    assert "No map of attention" in text
    assert call("report", STUDY, "--no-refresh") == 0


def test_only_what_cannot_be_drawn_again_is_a_loss(project):
    """Charts are drawn anew from tables, and the explorer packed from arrays."""
    results = project / "results" / "tiny"
    shown = "![a](<../figures/curves/loss%20a.svg>)\n![b](<../figures/attention/b.svg>)"
    write_text(results / "report" / "report.md", shown)
    write_text(results / "report" / "report.html", INDEX_TAG)
    write_text(results / "attention" / "vit.npz", "arrays")
    assert lost_figures(results) == [
        "figures/curves/loss a.svg",
        "figures/attention/b.svg",
    ]
    assert lost_figures(results, ("curves",)) == ["figures/attention/b.svg"]
    write_text(results / "figures" / "attention" / "b.svg", "<svg/>")
    check_losses("tiny", redrawn=True)


def test_a_listed_figure_whose_file_is_gone_is_a_fault_unless_it_may_go(tmp_path):
    """Whoever asks for figures gets all that a list names, or hears which is gone."""
    entry = {"file": "a.svg", "kind": "curves", "caption": "Accuracy."}
    write_text(tmp_path / "curves" / "figures.json", json.dumps([entry]))
    with pytest.raises(ReattnError, match=r"a\.svg is missing.*Draw it again"):
        read_figures(tmp_path)
    assert read_figures(tmp_path, drop_missing=True) == ([], {})
