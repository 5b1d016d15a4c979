"""What several test files need."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]

# Small tests on two cores run faster with one thread each.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def require(condition: object, reason: str) -> None:
    """Skip a test whose real component is missing here; in CI that is a failure."""
    if condition:
        return
    if os.environ.get("REATTN_CI"):
        pytest.fail(f"must not be skipped here: {reason}")
    pytest.skip(reason)


@pytest.fixture(autouse=True)
def environment_as_before() -> Iterator[None]:
    """A test that takes a card in this process hides the others from no later test."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of its own: a copy of the configuration, and no results."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.setenv("REATTN_ROOT", str(tmp_path))
    return tmp_path


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that read the finished demo."""
    for item in items:
        if "demo" in getattr(item, "fixturenames", ()):
            item.add_marker("demo")


TINY = {
    "title": "Tiny",
    "reduced": "a test",
    "data": {"source": "digits", "image_size": 16},
    "variants": ["learned2d-9h-content", "vit"],
    "seeds": [0],
    "training": {
        "device": "cpu",
        "epochs": 2,
        "batch": 32,
        "epoch_images": 96,
        "evaluation_images": 64,
        "wandb": "off",
    },
    "validation": {"images": 0, "reason": "a test"},
    "measurement": {"iterations": 2, "warmup": 1, "throughput_iterations": 1},
    "attention": {"images": [0], "queries": [[3, 4]], "metric_images": 4},
    "overrides": {
        "all": {"layers": 1},
        "families": {
            "learned2d": {"width": 8, "feed_forward": 8, "layers": 2},
            "quadratic": {"width": 8, "feed_forward": 8, "layers": 2},
            "vit": {"width": 8, "feed_forward": 8, "layers": 2, "stem_width": 4},
            "san": {"width": 32, "stages": 2, "blocks": 1},
            "ha-san": {"width": 32, "layers": 2},
            "resnet": {"width": 4},
        },
    },
}


def write_study(project: Path, name: str = "tiny", **changes: object) -> str:
    """Write a study that trains in seconds; `changes` replace whole blocks."""
    path = project / "config" / "studies" / f"{name}.yaml"
    path.write_text(yaml.safe_dump({**TINY, **changes}))
    return name


PARTS = (
    *("Snakefile", "workflow", "config", "profiles", "report", "src"),
    *("environment.yml", "requirements.lock", "pyproject.toml", "Makefile"),
    *("CITATION.cff", "LICENSE"),
)


def copy_project(destination: Path) -> Path:
    """Copy what the workflow needs, without results."""
    destination.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(source, destination / part, ignore=ignored)
        else:
            shutil.copy2(source, destination / part)
    return destination


def with_constructed_task(project: Path, study: str) -> None:
    """Give a study the constructed task's results, which are the same in every study.

    For tests of something else: to train it takes half a minute.
    """
    measured = project / "results" / study / "measure"
    measured.mkdir(parents=True)
    for name in ("constructed.csv", "constructed-attention.csv"):
        shutil.copy(ROOT / "results" / "d1-cpu" / "measure" / name, measured)


def run_snakemake(
    project: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess:
    """Run Snakemake in a project, as a user would."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [Path(sys.executable).parent / "snakemake", *arguments],
        cwd=project,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished demo, run once for all tests, in a folder with an awkward name.

    Case D19: spaces, quotes, brackets and accents in a path break nothing.
    """
    project = copy_project(tmp_path_factory.mktemp("demo") / "my pap'er é (1)")
    done = run_snakemake(project, "--cores", "2", "--config", "study=demo")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return project


# One browser for the tests of all files; it needs `require`, so it comes last.
from browser import browser  # noqa: E402, F401
