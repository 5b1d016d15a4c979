"""The README's pictures: what their list may say, and a browser that takes them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, copy_project, require
from deposited_study import STUDY, finish_study
from PIL import Image

from reattn.errors import ConfigError, ReattnError
from reattn.report import pictures
from reattn.report.browsers import why_no_browser

LIST = Path("docs") / "pictures" / "pictures.yaml"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a finished study and an empty list of pictures."""
    project = copy_project(tmp_path / "project")
    results = finish_study(project)
    (results / "report" / "report.pdf").touch()
    (project / LIST).parent.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("REATTN_ROOT", str(project))
    return project


def take(project: Path, content: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: a browser of the tests may be open in this one."""
    reason = why_no_browser()
    require(reason is None, f"no browser can be started: {reason}")
    (project / LIST).write_text(content)
    return subprocess.run(
        [sys.executable, "-m", "reattn", "take-pictures", STUDY],
        env={**os.environ, "REATTN_ROOT": str(project)},
        capture_output=True,
        text=True,
    )


def test_pictures_are_as_wide_as_asked_for(project: Path) -> None:
    """The first screen and a part of the page, in few colours."""
    done = take(project, 'page: {width: 640, height: 480}\ntitle: {part: "#top"}\n')
    assert done.returncode == 0, done.stderr
    folder = project / "results" / STUDY / "pictures"
    with Image.open(folder / "page.png") as page, Image.open(folder / "title.png") as t:
        assert page.size == (640, 480)
        assert page.mode == "P"
        assert 0 < t.height < 480


def test_a_part_that_the_page_lacks_is_told(project: Path) -> None:
    """One message names the picture and the part."""
    done = take(project, 'title: {part: "#nowhere"}\n')
    assert done.returncode == 2
    assert "title: the page has no #nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def test_all_faults_of_the_list_are_told_at_once(project: Path) -> None:
    """Before any browser is started."""
    (project / LIST).write_text("page: {wide: 3}\nprint: {print_page: 0}\n")
    with pytest.raises(ConfigError, match=r"(?s)page.*wide.*print.*print_page"):
        pictures.take_pictures(STUDY)


def test_a_missing_report_is_told_with_its_command(project: Path) -> None:
    """There is nothing to take a picture of yet."""
    (project / LIST).write_text("page: {}\n")
    (project / "results" / STUDY / "report" / "report.html").unlink()
    with pytest.raises(ReattnError, match="python -m reattn report"):
        pictures.take_pictures(STUDY)


def test_every_picture_of_the_readme_is_taken() -> None:
    """The README shows what `make pictures` makes, and nothing else is kept."""
    kept = {path.stem for path in (ROOT / LIST).parent.glob("*.png")}
    wanted = pictures._load(ROOT / LIST)
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    assert kept == set(wanted)
    assert all(f"docs/pictures/{name}.png" in shown for name in wanted)
