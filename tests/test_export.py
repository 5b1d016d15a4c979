"""A finished study in one archive: complete, checked, and the same bytes every time."""

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml
from browser import opened
from deposited_study import PAGE, STUDY, finish_study, write_page
from finished_project import call

from reattn.errors import ReattnError
from reattn.report.archive import write_archive
from reattn.report.export import export_study
from reattn.report.verify_archive import verify_archive

ROOT_FOLDER = f"reattn-{STUDY}"


@pytest.fixture
def results(project: Path) -> Path:
    """The folder of a finished study."""
    return finish_study(project)


def contents(archive: Path) -> dict[str, bytes]:
    """Names below the archive's one folder, and bytes."""
    with tarfile.open(archive) as packed:
        names = packed.getnames()
        assert {name.split("/")[0] for name in names} == {ROOT_FOLDER}
        return {
            name.removeprefix(f"{ROOT_FOLDER}/"): packed.extractfile(name).read()
            for name in names
        }


def test_the_archive_holds_report_configuration_and_environment(results):
    """All that is listed, and what says how it was made."""
    path, count = export_study(STUDY)
    found = contents(path)
    assert path == results / "reattn-tiny.tar.gz"
    assert count == len(found)
    for name in (
        *("report/report.html", "report/report.pdf", "report/report.md"),
        *("report/manifest.json", "tables/models.csv", "measure/measurements.csv"),
        *("runs/vit/seed0/metrics.json", "data/data.json"),
    ):
        assert found[f"results/tiny/{name}"] == (results / name).read_bytes()
    for name in (
        *("config/studies/tiny.yaml", "config/variants/vit.yaml"),
        *("config/claims.yaml", "config/published.yaml", "config/deviations.yaml"),
        *("environment.yml", "requirements.lock", "CITATION.cff", "LICENSE"),
        *("README.md", "SHA256SUMS", "settings.json"),
    ):
        assert found[name], name
    assert "config/variants/resnet18.yaml" not in found


def test_nothing_that_must_stay_leaves(results):
    """No weight, array, figure or image of a data set, and nothing hidden."""
    kinds = {Path(name).suffix for name in contents(export_study(STUDY)[0])}
    assert kinds <= {
        *(".csv", ".json", ".html", ".pdf", ".md", ".yaml", ".yml", ".lock"),
        *(".toml", ".cff", ""),
    }


def test_a_file_of_another_kind_is_refused(results):
    """A picture that came to lie beside the report is not deposited by accident."""
    (results / "report" / "cat.png").write_bytes(b"cat")
    write_page(results, PAGE)
    with pytest.raises(ReattnError, match=r"report/cat\.png: not of the kinds"):
        export_study(STUDY)


def test_the_same_study_gives_the_same_bytes(results, tmp_path):
    """Whenever, wherever and in whatever order files were written."""
    first = export_study(STUDY)[0].read_bytes()
    for age, path in enumerate(sorted(results.rglob("*"), reverse=True)):
        os.utime(path, (2e9 - age, 2e9 - age))
    (results / "tables" / "models.csv").chmod(0o600)
    second, _ = export_study(STUDY, tmp_path / "elsewhere" / "other.tgz")
    assert second.read_bytes() == first


def test_a_clone_without_figures_gives_the_same_bytes(results):
    """Figures stay out either way."""
    first = export_study(STUDY)[0].read_bytes()
    (results / "figures" / "curves" / "loss.svg").unlink()
    (results / "figures" / "curves").rmdir()
    (results / "figures").rmdir()
    assert export_study(STUDY)[0].read_bytes() == first


def test_a_change_in_the_study_changes_the_archive(results):
    """Equal bytes mean equal results."""
    first = export_study(STUDY)[0].read_bytes()
    write_page(results, PAGE.replace("End", "The end"))
    assert export_study(STUDY)[0].read_bytes() != first


def test_its_sums_are_what_sha256sum_reads(results, tmp_path):
    """Anybody can check it, without this software."""
    with tarfile.open(export_study(STUDY)[0]) as packed:
        packed.extractall(tmp_path / "unpacked")
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    folder = tmp_path / "unpacked" / ROOT_FOLDER
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_settings_are_resolved(results):
    """Defaults are filled in and the study's overrides applied."""
    found = contents(export_study(STUDY)[0])
    settings = json.loads(found["settings.json"])
    written = yaml.safe_load(found["config/studies/tiny.yaml"])
    assert "throughput_batch" not in written["measurement"]
    assert settings["study"]["measurement"]["throughput_batch"] > 0
    width = written["overrides"]["families"]["vit"]["width"]
    assert settings["variants"]["vit"]["model"]["width"] == width


def test_its_readme_says_what_it_is(results):
    """Which study, that it is reduced, the code's commit, and how to check it."""
    text = contents(export_study(STUDY)[0])["README.md"].decode()
    for words in (
        *("study `tiny`", "**A reduced study.** a test", "abc (1 runs)"),
        *("sha256sum --check SHA256SUMS", "--archive reattn-tiny.tar.gz"),
    ):
        assert words in text, words


@pytest.mark.parametrize("name", ["study.zip", "archive", "."])
def test_a_name_that_is_no_archive_s_is_refused(results, tmp_path, name):
    """With a name that would do."""
    with pytest.raises(ReattnError, match=r"for example reattn-tiny\.tar\.gz"):
        export_study(STUDY, tmp_path / name)


def test_a_study_with_faults_is_not_packed(results, capsys):
    """Nothing is written, and an older archive stays as it was."""
    path, _ = export_study(STUDY)
    before = path.read_bytes()
    (results / "tables" / "models.csv").write_text("variant\n")
    assert call("export", STUDY) == 2
    assert "tables/models.csv: changed" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_missing_licence_is_told(results, project):
    """An archive without its terms is not complete."""
    (project / "LICENSE").unlink()
    with pytest.raises(ReattnError, match="LICENSE is missing"):
        export_study(STUDY)
    assert not list(results.glob("*.tar.gz*"))
    assert not list(results.glob(".*"))


def test_an_archive_can_be_verified_as_it_is(results, capsys):
    """Sums, manifest and page, without unpacking it by hand."""
    assert call("export", STUDY) == 0
    archive = str(results / "reattn-tiny.tar.gz")
    assert call("verify", STUDY, "--archive", archive) == 0
    assert "figures: 1 files are not here" in capsys.readouterr().out


def rewritten(archive: Path, to: Path, change) -> Path:
    """The archive with other contents, whose sums are those of before."""
    found = contents(archive)
    change(found)
    with tarfile.open(to, "w:gz") as packed:
        for name, content in found.items():
            member = tarfile.TarInfo(f"{ROOT_FOLDER}/{name}")
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return to


def test_what_was_changed_in_an_archive_is_told_at_once(results, tmp_path):
    """Changed, missing and added files, each with its name."""

    def change(found):
        found["LICENSE"] += b"more"
        del found["config/claims.yaml"]
        found["extra"] = b""

    archive = rewritten(export_study(STUDY)[0], tmp_path / "changed.tar.gz", change)
    with pytest.raises(ReattnError) as raised:
        verify_archive(STUDY, archive)
    for words in ("LICENSE: changed", "claims.yaml: missing", "extra: not listed"):
        assert words in str(raised.value)


def test_sums_that_were_made_anew_do_not_hide_a_changed_table(results, tmp_path):
    """The manifest inside still tells."""
    found = contents(export_study(STUDY)[0])
    found["results/tiny/tables/models.csv"] += b"more\n"
    del found["SHA256SUMS"]
    write_archive(tmp_path / "new.tar.gz", ROOT_FOLDER, found)
    with pytest.raises(ReattnError, match=r"models\.csv: changed"):
        verify_archive(STUDY, tmp_path / "new.tar.gz")


@pytest.mark.parametrize(
    ("study", "content", "words"),
    [
        (STUDY, None, "does not exist"),
        (STUDY, b"no archive", "cannot be unpacked"),
        ("demo", "whole", "holds reattn-tiny, not reattn-demo"),
        (STUDY, "cut", "cannot be unpacked"),
    ],
)
def test_an_archive_that_is_none_is_told(results, tmp_path, study, content, words):
    """Absent, of another kind, of another study, or cut off."""
    path = tmp_path / "given.tar.gz"
    whole = export_study(STUDY)[0].read_bytes()
    given = {"whole": whole, "cut": whole[: len(whole) // 2]}.get(content, content)
    if given is not None:
        path.write_bytes(given)
    with pytest.raises(ReattnError, match=words):
        verify_archive(study, path)


# The page inside Snakemake's own report


def test_the_packed_page_unfolds_to_the_page(results, browser):
    """A browser that opens the small copy shows the report, and asks for nothing."""
    assert call("pack-page", STUDY) == 0
    with opened(browser, results / "page" / "report.html") as found:
        found.page.wait_for_selector("#top")
        assert found.page.title() == "A page"
        assert found.page.locator("a").count() == PAGE.count("<a ")
        assert not found.requests + found.faults


def test_the_same_page_is_packed_to_the_same_bytes(results):
    """Nothing is made again that did not change."""
    packed = results / "page" / "report.html"
    assert call("pack-page", STUDY) == 0
    first = packed.read_bytes()
    assert call("pack-page", STUDY) == 0
    assert packed.read_bytes() == first


def test_packing_without_a_report_is_told(results, capsys):
    """With the command that makes one."""
    (results / "report" / "report.html").unlink()
    assert call("pack-page", STUDY) == 2
    assert "python -m reattn report tiny" in capsys.readouterr().err
