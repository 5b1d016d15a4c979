"""A finished study is what its manifest and its page say, or every fault is told."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from deposited_study import PAGE, STUDY, finish_study, write_page
from finished_project import call
from test_committed_results import COMMITTED, committed_files

from reattn.errors import ReattnError
from reattn.report.manifest import NAME, PATTERNS, write_manifest
from reattn.report.verify import verify_study
from reattn.report.verify_files import KEPT


@pytest.fixture
def results(project: Path) -> Path:
    """The folder of a finished study."""
    return finish_study(project)


def faults(results: Path) -> list[str]:
    """What the check of a study with faults says, one a line."""
    with pytest.raises(ReattnError) as raised:
        verify_study(STUDY, results)
    lines = str(raised.value).splitlines()
    assert lines[0].startswith(f"{len(lines) - 2} fault"), lines
    assert "python -m reattn report tiny" in lines[-1]
    return [line.removeprefix("  - ") for line in lines[1:-1]]


def test_a_sound_study_is_one_line_of_figures(results, capsys):
    """Files, links inside and links outside are counted; the status is zero."""
    assert call("verify", STUDY) == 0
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    listed = json.loads((results / "report" / NAME).read_text())["files"]
    assert f"tiny: {len(listed)} files checked; the page: 2 links inside" in said
    assert "1 to other places" in said


def test_links_to_other_places_are_listed_on_demand(results, capsys):
    """A reader who wants to try them has them, one a line."""
    assert call("verify", STUDY, "--links") == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["https://example.org/a?b=c"]


def test_all_faults_of_files_are_told_at_once(results, capsys):
    """Missing, changed in size, changed in content, not listed: each with its name."""
    (results / "tables" / "models.csv").unlink()
    (results / "measure" / "measurements.csv").write_text("variant\nViT\n")
    (results / "runs" / "vit" / "seed0" / "metrics.json").write_text("{}")
    (results / "tables" / "extra.csv").write_text("a\n")
    found = faults(results)
    assert len(found) == 4
    for start in (
        "tables/models.csv: missing",
        "measure/measurements.csv: changed, another SHA-256",
        "runs/vit/seed0/metrics.json: changed, 2 bytes instead of",
        "tables/extra.csv: not listed",
    ):
        assert any(line.startswith(start) for line in found), (start, found)
    assert call("verify", STUDY) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_what_a_clone_does_not_hold_is_no_fault(results):
    """Figures that are all absent are counted; one that is lost is missing."""
    lost = results / "figures" / "curves" / "loss.svg"
    lost.unlink()
    assert faults(results) == ["figures/curves/loss.svg: missing"]
    shutil.rmtree(results / "figures")
    found = verify_study(STUDY, results)
    assert found.absent == {"figures": 1}
    assert "figures: 1 files are not here" in str(found)


def test_tables_that_are_all_gone_are_missing(results):
    """A clone holds them, so that their absence is a fault."""
    shutil.rmtree(results / "tables")
    assert faults(results) == ["tables/models.csv: missing"]


def test_what_a_clone_holds_is_what_git_keeps():
    """The folders that may be absent are those that .gitignore leaves out."""
    listed = {pattern.split("/")[0] for pattern in PATTERNS}
    kept = {path.parts[path.parts.index("results") + 2] for path in committed_files()}
    assert listed - set(KEPT) == {"figures"}
    assert kept == set(KEPT)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('href="#top"', 'href="#up"', "link #up: the page has no such anchor"),
        ('id="café"', 'id="top"', "id 'top' is there 2 times"),
        ("report.pdf", "../paper.pdf", "link ../paper.pdf: no such file"),
        ("https://ex", "http://ex", "link http://example.org/a?b=c: not an address"),
        ("https://example.org/a", "javascript:x", "link javascript:x?b=c: not an"),
        ("https://example.org", "//example.org", "link //example.org/a?b=c: not an"),
        ("https://example.org", "https://[", "link https://[/a?b=c: not an address"),
        ("data:image/svg+xml,%3Csvg/%3E", "a.png", "a.png would be loaded"),
        ("data:image/png;base64,AA", "b.png", "b.png would be loaded"),
        ("h1 {", '@import "c.css"; h1 {', "c.css would be loaded"),
        ("</head>", "<link rel=icon href=d.ico></head>", "d.ico would be loaded"),
        ("<p ", '<p style="background:url(e.png)" ', "e.png would be loaded"),
        ("<img ", '<img srcset="f.png 2x, data:x 1x" ', "f.png would be loaded"),
        ("<script ", '<script src="https://x.org/g.js" ', "g.js would be loaded"),
        ("default-src 'none'", "img-src data:", "its policy lets its scripts"),
        ("'none'", "'none'; connect-src https://x.org", "its policy lets its scripts"),
    ],
)
def test_every_fault_of_a_page_is_told(results, old, new, fault):
    """Links lead somewhere, names are unique, and nothing would be loaded."""
    assert old in PAGE
    write_page(results, PAGE.replace(old, new))
    told = [line for line in faults(results) if fault in line]
    assert len(told) == 1
    assert told[0].startswith("report/report.html: ")


def test_faults_of_files_and_of_the_page_come_together(results):
    """One call tells everything that has to be mended."""
    write_page(results, PAGE.replace("#top", "#up"))
    (results / "report" / "report.md").unlink()
    assert len(faults(results)) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "is missing: the study is not finished"),
        ("[", "is not valid JSON"),
        ("[]", "does not list path, size and sha256"),
        ('{"study": "demo", "files": []}', "it is of study 'demo'"),
        ('{"study": "tiny", "files": [{"path": "a"}]}', "does not list path, size"),
    ],
)
def test_a_manifest_that_is_none_is_told_with_its_fix(results, content, words):
    """By hand, from another study, cut off, or not there."""
    path = results / "report" / NAME
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(ReattnError, match=words) as raised:
        verify_study(STUDY, results)
    assert NAME in str(raised.value)


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "tables/../../x"])
def test_a_manifest_reaches_no_file_outside_its_study(results, name):
    """A manifest from elsewhere is not to be trusted with other files."""
    path = results / "report" / NAME
    content = json.loads(path.read_text())
    content["files"][0]["path"] = name
    path.write_text(json.dumps(content))
    with pytest.raises(ReattnError, match="does not list path"):
        verify_study(STUDY, results)


def test_a_file_that_is_listed_twice_is_told(results):
    """Two digests of one file cannot both be right."""
    path = results / "report" / NAME
    content = json.loads(path.read_text())
    content["files"].append(content["files"][0])
    path.write_text(json.dumps(content))
    with pytest.raises(ReattnError, match=r"lists data/data.json twice"):
        verify_study(STUDY, results)


def test_a_study_that_does_not_exist_is_told(project, capsys):
    """With the names that there are."""
    assert call("verify", "tinny") == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("study", COMMITTED)
def test_committed_studies_are_sound(study: str, tmp_path: Path):
    """In a clone, where git's files are all there is."""
    for path in committed_files(study):
        copy = tmp_path / path.relative_to(ROOT / "results")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    found = verify_study(study, tmp_path / study)
    assert found.files > 50
    assert found.external


def test_the_manifest_lists_what_the_images_were(results):
    """data.json says what a study was trained on; arrays of images are not listed."""
    write_manifest(STUDY, results)
    listed = json.loads((results / "report" / NAME).read_text())["files"]
    names = [entry["path"] for entry in listed]
    assert "data/data.json" in names
    assert not [name for name in names if name.endswith((".npy", ".pt"))]
