"""The README: every command in it is run, dry-run, or parsed with the reason."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, copy_project

BLOCK = re.compile(
    r"(?:<!-- test: (?P<how>[^>]*?) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```",
    re.DOTALL,
)
README = (ROOT / "README.md").read_text()
BLOCKS = [match.groupdict() for match in BLOCK.finditer(README)]


def blocks(kind: str, language: str = "bash") -> list[str]:
    """The texts of a language's blocks whose mark starts with a word."""
    return [
        block["text"]
        for block in BLOCKS
        if block["language"] == language and (block["how"] or "").startswith(kind)
    ]


def run(command: str, project: Path) -> subprocess.CompletedProcess:
    """Run a block in a project, as in an activated environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(project / "src")}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """A copy of the project without results."""
    return copy_project(tmp_path_factory.mktemp("readme") / "project")


def test_every_block_is_marked():
    """A command that nobody tests is wrong sooner or later."""
    assert BLOCKS
    for block in BLOCKS:
        assert block["how"], block["text"]
        how = block["how"].split()[0].rstrip(",")
        assert how in {
            *("run", "dry-run", "parse", "file", "python", "after", "own", "edit"),
        }
        if how == "parse":
            assert "because" in block["how"], block["text"]


@pytest.mark.parametrize("text", [t for t in blocks("run") if "make demo" not in t])
def test_commands_that_are_run(clone: Path, text: str):
    """They work in a fresh clone, in this order."""
    done = run(text, clone)
    assert done.returncode == 0, done.stdout + done.stderr


def test_make_demo_runs_what_the_demo_fixture_runs():
    """The demo itself is run once for all tests, by the command of the Makefile."""
    makefile = (ROOT / "Makefile").read_text()
    assert "snakemake --cores 2 --config study=demo" in makefile
    assert "make demo\n" in blocks("run")


@pytest.mark.parametrize("text", blocks("dry-run"))
def test_commands_that_are_dry_run(clone: Path, text: str):
    """They would train."""
    done = run(f"{text.strip()} -n", clone)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "train_model" in done.stdout


@pytest.mark.parametrize("text", blocks("after"))
def test_commands_that_follow_the_demo(demo: Path, text: str):
    """They work on its results."""
    done = run(text, demo)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("text", blocks("parse"))
def test_commands_that_are_parsed(text: str):
    """The shell accepts them; verbs, targets and options exist."""
    assert run(f"set -n\n{text}", ROOT).returncode == 0
    for line in text.strip().splitlines():
        words = shlex.split(line)
        if words[:3] == ["python", "-m", "reattn"]:
            assert run(f"python -m reattn {words[3]} --help", ROOT).returncode == 0
        if words[0] == "make":
            targets = (ROOT / "Makefile").read_text()
            assert re.search(rf"^{words[1]}:", targets, re.MULTILINE)
        for key in re.findall(r"study=([\w-]+)", line):
            assert (ROOT / "config" / "studies" / f"{key}.yaml").exists()


def test_the_python_example_runs(clone: Path):
    """And prints what its comment promises."""
    (text,) = blocks("python", "python")
    done = run(f"python - <<'END'\n{text}END", clone)
    assert done.returncode == 0, done.stderr
    assert "2 torch.Size([1, 9, 16, 16, 16, 16])" in done.stdout


OWN = ["learned2d-4h-content", "gaussian-window"]


def replace_lines(path: Path, text: str) -> None:
    """Put every line of a block in the place of the line with the same key."""
    content = path.read_text()
    for line in text.splitlines():
        key = re.escape(line.partition(":")[0])
        content, count = re.subn(rf"^{key}:.*$", line, content, flags=re.MULTILINE)
        assert count == 1, line
    path.write_text(content)


@pytest.fixture(scope="module")
def with_own_variants(tmp_path_factory) -> Path:
    """A project in which a reader did what the section says, to the letter.

    All but the last step, whose whole report is too much for a test.
    """
    project = copy_project(tmp_path_factory.mktemp("own") / "project")
    section = README.split("## Your own variant")[1].split("\n## ")[0]
    for block in (match.groupdict() for match in BLOCK.finditer(section)):
        kind, *where = block["how"].split()
        if kind == "own":
            for line in block["text"].splitlines():
                dry = " -n" if line.startswith("snakemake") else ""
                done = run(line + dry, project)
                assert done.returncode == 0, done.stdout + done.stderr
        elif kind == "file":
            (project / where[0]).write_text(block["text"])
        else:
            replace_lines(project / where[0], block["text"])
    for variant in OWN:
        assert f"train_model/{variant}-seed0" in done.stdout
    study = project / "config" / "studies" / "demo.yaml"
    fewer = "batch: 32\n  epoch_images: 96\n  evaluation_images: 96"
    study.write_text(study.read_text().replace("batch: 32", fewer))
    assert run("python -m reattn prepare demo", project).returncode == 0
    return project


@pytest.mark.parametrize("variant", OWN)
def test_the_example_variants_can_be_trained(with_own_variants: Path, variant: str):
    """They end well; where they look is in the tests of mechanisms."""
    done = run(f"python -m reattn train demo {variant}", with_own_variants)
    assert done.returncode == 0, done.stderr
    folder = with_own_variants / "results" / "demo" / "runs" / variant / "seed0"
    assert json.loads((folder / "status.json").read_text())["status"] == "ok"


def test_files_that_it_names_exist():
    """Links and pictures of the README lead somewhere."""
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
