"""The plan that is printed before real work."""

import re

import pytest
import torch
from conftest import TINY, write_study

from reattn.cards import Card, leases, visible
from reattn.cli import planning
from reattn.cli.planning import plan_of
from reattn.config import load_resolved
from reattn.config.paths import data_folder
from reattn.config.runs import find_run
from reattn.costs import runs
from reattn.costs.memory import estimate_training_memory, largest_micro_batch
from reattn.data import prepare
from reattn.training.limits import CARD_SHARE
from reattn.training.memory import micro_batch_for


@pytest.fixture
def plan(monkeypatch):
    """Plans without timing the machine, which differs from day to day."""
    monkeypatch.setattr(planning, "processor_rate", lambda: 1e9)
    monkeypatch.setattr(planning, "card_rate", lambda precision: None)
    for name in ("CUDA_VISIBLE_DEVICES", "REATTN_PRETENDED_CARDS"):
        monkeypatch.delenv(name, raising=False)
    return plan_of


@pytest.fixture
def machine(monkeypatch):
    """A machine with cards of the given memories, in GiB."""
    monkeypatch.setattr(leases, "_leases", [])

    def have(*sizes: float | None) -> None:
        cards = [
            Card(f"GPU-{place}", "A card", size and int(size * 2**30))
            for place, size in enumerate(sizes)
        ]
        monkeypatch.setattr(visible, "driver_cards", lambda: cards)

    return have


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
    monkeypatch.setattr(runs, "CPU_BYTES", 2**19)
    name = write_study(project)
    model = load_resolved(name)[1]["vit"].model
    parts = largest_micro_batch(model, 16, 10, 32, 2**19)
    assert parts < 32
    assert f"32 in {parts}s" in plan(name)


def planned_batch(text: str, variant: str) -> tuple[int, int, float]:
    """Batch, images in memory at once, and GiB, as a plan tells them."""
    row = re.search(
        rf"{variant} +\d+ +\d+ +(\d+)(?: in (\d+)s)? +(\S+) GiB", text
    ).groups()
    return int(row[0]), int(row[1] or row[0]), float(row[2])


@pytest.mark.parametrize("sizes", [(8,), (24,), (80,), (80, 8), (2, 24, 24)])
def test_the_plan_splits_batches_for_the_smallest_card(plan, machine, sizes):
    """Case R1: on the reviewers' 8 GB card batch 100 is kept, and fits in parts."""
    machine(*sizes)
    text = plan("paper")
    available = CARD_SHARE * min(sizes)
    run = find_run("paper", "learned2d-9h-content", 0)
    batch, part, needed = planned_batch(text, run.variant_id)
    assert batch == 100
    assert needed <= available
    if part < batch:
        larger = estimate_training_memory(run.variant.model, 32, 10, 2 * part)
        assert larger > available * 2**30
    assert micro_batch_for(run, (32, 32), 10, torch.device("cuda")) == part
    assert (part < batch) == (min(sizes) < 16)


def test_the_plan_names_the_cards_and_how_many_runs_go_at_once(plan, machine):
    """Case R1: memory needed and memory there, side by side before the start."""
    machine(80, 80, 8)
    text = plan("paper")
    assert "cards: 2 x A card, 80.0 GiB; 1 x A card, 8.0 GiB; room for 3 runs" in text


@pytest.mark.parametrize(
    ("sizes", "reason"), [((), "none visible here"), ((80, None), "memory not known")]
)
def test_where_no_memory_is_known_the_batch_is_assumed_whole(
    plan, machine, sizes, reason
):
    """And the plan says that it is an assumption."""
    machine(*sizes)
    text = plan("paper")
    line = next(line for line in text.splitlines() if "cards:" in line)
    assert reason in line
    assert "assumed to fit whole" in line
    assert planned_batch(text, "learned2d-9h-content")[:2] == (100, 100)


def test_a_cpu_study_s_plan_speaks_of_no_card(project, plan, machine):
    """It takes none."""
    machine(80)
    assert "cards:" not in plan(write_study(project))
