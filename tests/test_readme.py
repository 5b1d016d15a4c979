"""The README: every command in it is run, dry-run, or parsed with the reason."""

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
        assert how in {"run", "dry-run", "parse", "file", "python", "after"}
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


def test_the_example_variant_can_be_trained(tmp_path: Path):
    """The file of the README, to the letter, in a study that lists it."""
    project = copy_project(tmp_path / "project")
    (block,) = [block for block in BLOCKS if (block["how"] or "").startswith("file")]
    path = project / block["how"].split()[1]
    path.write_text(block["text"])
    study = project / "config" / "studies" / "demo.yaml"
    study.write_text(study.read_text().replace("[report]", "[audit]"))
    done = run("python -m reattn variants --study demo --csv", project)
    assert path.stem in done.stdout, done.stderr
    done = run(
        f"python -m reattn prepare demo; python -m reattn train demo {path.stem}",
        project,
    )
    assert "ok" in done.stdout, done.stderr


def test_files_that_it_names_exist():
    """Links and pictures of the README lead somewhere."""
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
