"""What several test files need."""

import os
import shutil
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]

# Small tests on two cores run faster with one thread each.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of its own: a copy of the configuration, and no results."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.setenv("REATTN_ROOT", str(tmp_path))
    return tmp_path


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
    "attention": {"images": [0], "queries": [[3, 4]]},
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
