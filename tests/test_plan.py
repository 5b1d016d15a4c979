"""The plan that is printed before real work."""

import pytest
from conftest import TINY, write_study

from reattn.cli import planning
from reattn.cli.planning import plan_of
from reattn.config import load_resolved
from reattn.config.paths import data_folder
from reattn.costs.memory import largest_micro_batch
from reattn.data import prepare


@pytest.fixture
def plan(monkeypatch):
    """Plans without timing the machine, which differs from day to day."""
    monkeypatch.setattr(planning, "processor_rate", lambda: 1e9)
    monkeypatch.setattr(planning, "card_rate", lambda precision: None)
    return plan_of


def test_the_plan_tells_what_a_study_costs(project, plan):
    """Runs, epochs, passes, batches, memory, operations, disk, time; and its scale."""
    text = plan(write_study(project))
    assert "2 runs of 2 variants, 576 image passes" in text  # 2 x 3 epochs x 96
    for word in ("reduced: a test", "GiB", "disk:", "time: about", "vit"):
        assert word in text, word


def test_without_a_card_a_gpu_study_s_time_is_not_invented(plan):
    """A number for a machine that is not here would be a guess."""
    assert "not estimated" in plan("short")


def test_the_images_of_a_user_s_own_folder_are_not_guessed(project, plan):
    """They are counted once the data is prepared."""
    training = {key: TINY["training"][key] for key in ("device", "epochs", "batch")}
    data = {"source": "image-folder", "image_size": 16}
    name = write_study(project, data=data, training=training)
    assert "as many passes as there are images" in plan(name)
    assert "known once the images are prepared" in plan(name)
    study, _ = load_resolved("demo")
    prepare(study.data, data_folder(name), None)
    assert f"{2 * 3 * 1437:,} image passes" in plan(name)


def test_a_batch_that_does_not_fit_is_planned_in_parts(project, plan, monkeypatch):
    """Case R1: what will be split is said before the start."""
    monkeypatch.setattr(planning, "CPU_BYTES", 2**19)
    name = write_study(project)
    model = load_resolved(name)[1]["vit"].model
    parts = largest_micro_batch(model, 16, 10, 32, 2**19)
    assert parts < 32
    assert f"32 in {parts}s" in plan(name)
