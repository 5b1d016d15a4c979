"""Measuring: operations, parameters, times, memory, and the file of a study."""

import csv
import gc
import json
import statistics
import subprocess
import sys
from itertools import pairwise

import pytest
import torch
from torch import nn

from reattn.config import load_variants
from reattn.config.variants import Variant
from reattn.costs.activations import saved_activations
from reattn.costs.formulas import (
    aggregation_flops,
    flops_by_formula,
    multiply_accumulates,
)
from reattn.costs.memory import (
    estimate_training_flops,
    estimate_training_memory,
    largest_micro_batch,
)
from reattn.costs.parameters import parameters_by_formula
from reattn.measure.conditions import Repetitions
from reattn.measure.environment import describe_machine
from reattn.measure.flops import (
    count_flops,
    count_parameters,
    count_unused_parameters,
)
from reattn.measure.precision import arithmetic
from reattn.measure.rows import COLUMNS
from reattn.measure.stopwatch import FEWEST_ITERATIONS, Stopwatch, time_iterations
from reattn.measure.table import measure_study
from reattn.measure.timing import measure_wall_time, summarise, throughput
from reattn.models.build import build_model
from reattn.models.forms import set_form

IMAGE_SIZE = 16
CLASSES = 7
SMALL = {
    "learned2d": {"heads": 3, "width": 16, "feed_forward": 20, "layers": 2},
    "quadratic": {"heads": 3, "width": 16, "feed_forward": 20, "layers": 2},
    "vit": {"heads": 3, "width": 16, "feed_forward": 20, "layers": 2, "stem_width": 8},
    "san": {"width": 32, "stages": 2, "blocks": 1},
    "ha-san": {"width": 32, "layers": 2},
    "resnet": {"width": 8},
}
PUBLISHED_PARAMETERS = {
    "resnet18": 11173962,
    "learned2d-9h-content": 28478682,
    "learned2d-9h-nocontent": 11316390,
    "learned2d-16h-content": 26459754,
    "learned2d-16h-nocontent": 13973802,
    "quadratic-9h-isotropic": 11124444,
    "quadratic-9h-anisotropic": 11124606,
    "quadratic-16h-anisotropic": 7538346,
    "san-pairwise": 2446318,
    "san-patchwise": 2512654,
    "vit": 37394506,
    "ha-learned2d-9h-content": 4754122,
    "ha-learned2d-16h-content": 4414874,
    "ha-san-pairwise": 352750,
    "ha-san-patchwise": 356282,
    "ha-vit": 6531946,
}
VARIANTS = load_variants()
every_variant = pytest.mark.parametrize("name", PUBLISHED_PARAMETERS)


def small(name: str) -> Variant:
    content = VARIANTS[name].model_dump()
    content["model"].update(SMALL[content["model"]["family"]])
    return Variant.model_validate(content)


def small_model(name: str) -> nn.Module:
    torch.manual_seed(0)
    return build_model(small(name), image_size=IMAGE_SIZE, num_classes=CLASSES)


# Operations and parameters


@every_variant
def test_counted_operations_equal_the_hand_formula(name):
    """Protects the flops column: two independent ways give one number."""
    formula = flops_by_formula(small(name).model, IMAGE_SIZE, CLASSES)
    assert count_flops(small_model(name), IMAGE_SIZE) == formula


@every_variant
def test_parameters_equal_the_hand_formula(name):
    """Protects the plan's memory estimate, which cannot build the models."""
    formula = parameters_by_formula(small(name).model, IMAGE_SIZE, CLASSES)
    assert count_parameters(small_model(name)) == formula


@every_variant
def test_full_size_parameters_are_the_published_ones(name):
    """Protects the formula at the sizes that the small models do not reach."""
    formula = parameters_by_formula(VARIANTS[name].model, 32, 10)
    assert formula == PUBLISHED_PARAMETERS[name]


def test_resnet18_costs_what_is_published():
    """Protects the definition of an operation: 1.11 billion, Cordonnier et al."""
    flops = flops_by_formula(VARIANTS["resnet18"].model, 32, 10)
    assert flops == pytest.approx(1.11e9, rel=0.005)


def test_counting_leaves_the_model_and_the_random_stream_as_they_were():
    """Protects what is done with a model after it has been counted."""
    model = set_form(small_model("vit"), "shipped").train()
    before = torch.get_rng_state()
    count_flops(model, IMAGE_SIZE)
    count_unused_parameters(model, IMAGE_SIZE)
    forms = {m.form for m in model.modules() if hasattr(m, "form")}
    assert forms <= {"shipped"}
    assert model.training
    assert all(p.grad is None for p in model.parameters())
    assert torch.equal(torch.get_rng_state(), before)


def test_unused_parameters_are_those_of_the_unread_norm_and_keys():
    """Protects the column: D5's norms and the second bottleneck's key map."""
    width = SMALL["ha-san"]["width"]
    expected = 2 * 2 * width + width * (width // 16)
    assert count_unused_parameters(small_model("ha-san-pairwise"), 16) == expected
    assert count_unused_parameters(small_model("san-pairwise"), 16) == 0


@pytest.mark.parametrize("name", ["san-patchwise", "ha-san-pairwise"])
def test_aggregation_is_told_apart_from_matrix_products(name):
    """Protects the definition: SAN's weighted sums are element-wise, not in flops."""
    settings = small(name).model
    terms = multiply_accumulates(settings, IMAGE_SIZE, CLASSES)
    assert "aggregation" not in terms
    assert aggregation_flops(settings, IMAGE_SIZE) > 0
    assert aggregation_flops(VARIANTS["vit"].model, 32) == 0


# Time


class FakeDevice:
    """A device whose work is done only when somebody waits for it."""

    def __init__(self, seconds_a_pass: float):
        self.seconds_a_pass = seconds_a_pass
        self.now, self.pending = 0.0, 0
        self.events: list[str] = []

    def work(self) -> None:
        self.events.append("work")
        self.pending += 1

    def synchronise(self) -> None:
        self.events.append("synchronise")
        self.now += self.pending * self.seconds_a_pass
        self.pending = 0

    def clock(self) -> float:
        self.events.append("clock")
        return self.now

    @property
    def stopwatch(self) -> Stopwatch:
        return Stopwatch(self.clock, self.synchronise)


def test_the_device_is_synchronised_before_start_and_before_stop():
    """Case D20: a time is not that of the launch alone."""
    device = FakeDevice(0.5)
    seconds = time_iterations(device.work, device.stopwatch, iterations=4, warmup=3)
    assert seconds == [0.5] * 4
    one = ["synchronise", "clock", "work", "synchronise", "clock"]
    assert device.events == ["work"] * 3 + one * 4


def test_warmup_is_not_timed():
    """Case D20: the mean is free of the slow first passes."""
    device = FakeDevice(0.0)
    costs = iter([9.0, 9.0, 1.0, 1.0])

    def work():
        device.now += next(costs)

    assert time_iterations(work, device.stopwatch, iterations=2, warmup=2) == [1, 1]


@pytest.mark.parametrize(
    ("iterations", "max_seconds", "expected"),
    [(20, None, 20), (20, 8.0, 8), (20, 1.0, FEWEST_ITERATIONS), (3, 1.0, 3)],
)
def test_a_time_limit_stops_early_but_not_before_the_fewest(
    iterations, max_seconds, expected
):
    """Protects CPU studies from hours, and their numbers from too few passes."""
    device = FakeDevice(1.0)
    seconds = time_iterations(
        device.work,
        device.stopwatch,
        iterations=iterations,
        warmup=0,
        max_seconds=max_seconds,
    )
    assert len(seconds) == expected


def test_garbage_is_not_collected_while_timing():
    """Protects single iterations from a collection; afterwards it is on again."""
    states = []
    device = FakeDevice(1.0)
    time_iterations(
        lambda: states.append(gc.isenabled()),
        device.stopwatch,
        iterations=1,
        warmup=1,
    )
    assert states == [False, False]
    assert gc.isenabled()


class Probe(nn.Module):
    """Notes what it is called with, and works on a fake device."""

    def __init__(self, device: FakeDevice):
        super().__init__()
        self.device, self.calls = device, []

    def forward(self, images):
        self.device.work()
        self.calls.append((tuple(images.shape), self.training, torch.is_grad_enabled()))


def test_wall_time_is_of_one_image_in_eval_mode_in_milliseconds():
    """Protects what the wall-time columns say that they are."""
    device = FakeDevice(0.25)
    model = Probe(device).train()
    time = measure_wall_time(
        model, image_size=8, iterations=3, warmup=1, stopwatch=device.stopwatch
    )
    assert (time.mean, time.std, time.median, time.n) == (250.0, 0.0, 250.0, 3)
    assert set(model.calls) == {((1, 3, 8, 8), False, False)}
    assert len(model.calls) == 4
    assert model.training


def test_throughput_counts_the_images_of_the_timed_batches():
    """Protects images a second from the warm-up and the batch size."""
    device = FakeDevice(2.0)
    rate = throughput(
        Probe(device), image_size=8, iterations=5, stopwatch=device.stopwatch
    )
    assert (rate.images_per_second, rate.n) == (8.0, 5)


def test_statistics_are_the_usual_ones():
    """Protects mean, sample deviation and quartiles."""
    times = [4.0, 1.0, 3.0, 2.0, 10.0]
    summary = summarise(times)
    assert (summary.q1, summary.median, summary.q3) == (2.0, 3.0, 4.0)
    assert summary.mean == pytest.approx(4.0)
    assert summary.std == pytest.approx(statistics.stdev(times))
    assert summarise([5.0]).std == 0.0


def test_arithmetic_is_put_back():
    """Protects what runs after a measurement in the same process."""
    before = torch.get_float32_matmul_precision()
    with arithmetic("tf32", "cpu"):
        assert torch.get_float32_matmul_precision() == "high"
    assert torch.get_float32_matmul_precision() == before
    with arithmetic("bf16", "cpu"):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16


# The file of a study

QUICK = Repetitions(
    iterations=2,
    warmup=1,
    throughput_batch=2,
    throughput_iterations=2,
    throughput_warmup=0,
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A study of one good variant between two that fail in different ways."""
    folder = tmp_path_factory.mktemp("measure")
    content = VARIANTS["san-pairwise"].model_dump()
    content["model"]["stages"] = 4
    impossible = Variant.model_validate(content)
    variants = {"impossible": impossible, "good": small("resnet18")}
    threads, lines = torch.get_num_threads(), []
    measure_study(
        variants,
        image_size=IMAGE_SIZE,
        num_classes=CLASSES,
        destination=folder,
        threads=threads + 1,
        repetitions=QUICK,
        progress=lines.append,
    )
    assert torch.get_num_threads() == threads
    with (folder / "measurements.csv").open() as file:
        rows = {row["variant"]: row for row in csv.DictReader(file)}
    return rows, json.loads((folder / "measurements.json").read_text()), lines, threads


def test_a_variant_that_fails_has_a_reason_and_blanks_and_others_go_on(measured):
    """Protects the other rows, and keeps a failure from looking like a 0."""
    rows, _, lines, _ = measured
    failed = dict(rows["impossible"])
    assert "stages" in failed.pop("reason")
    assert failed.pop("variant") == "impossible"
    assert set(failed.values()) == {""}
    assert rows["good"]["reason"] == ""
    assert len(lines) == 2


def test_a_measured_row_is_complete(measured):
    """Protects the columns that tables read."""
    row = dict(measured[0]["good"])
    assert tuple(row) == COLUMNS
    blank = [name for name, value in row.items() if value == ""]
    assert blank == ["training_memory_mb", "memory_batch", "reason"]
    assert row["flops"] == row["flops_formula"]
    assert row["wall_time_n"] == row["throughput_plain_n"] == "2"
    assert float(row["wall_time_ms_mean"]) > 0


def test_the_conditions_stand_beside_the_numbers(measured):
    """Protects a reader from times without device, threads and repetitions."""
    _, conditions, _, threads = measured
    assert conditions["threads"] == threads + 1
    assert conditions["precision"] == "fp32"
    assert conditions["device_name"]
    assert conditions["iterations"] == 2
    assert conditions["throughput_batch"] == 2
    assert torch.__version__.startswith(conditions["versions"]["torch"])


def test_the_machine_is_described_without_its_name():
    """Protects committed results from host names and paths."""
    import platform

    text = json.dumps(describe_machine())
    assert platform.node() not in text
    assert "/home" not in text
    assert {"cpu", "cores", "device", "versions", "platform"} <= set(describe_machine())


# Memory


def saved_bytes(model: nn.Module, images: torch.Tensor) -> int:
    """Bytes of all distinct storages that the backward pass would read."""
    tensors = [*model.parameters(), *model.buffers()]
    kept = {each.untyped_storage().data_ptr(): each for each in tensors}
    own = set(kept)

    def keep(tensor):
        kept.setdefault(tensor.untyped_storage().data_ptr(), tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model(images).sum()
    return sum(
        tensor.untyped_storage().nbytes()
        for address, tensor in kept.items()
        if address not in own
    )


@every_variant
def test_activations_are_estimated_to_a_quarter(name):
    """Protects the plan's memory and the first micro-batch from bad guesses."""
    model, batch = small_model(name).train(), 16
    measured_bytes = saved_bytes(model, torch.randn(batch, 3, IMAGE_SIZE, IMAGE_SIZE))
    saved = saved_activations(small(name).model, IMAGE_SIZE)
    estimate = 4 * (saved.once + batch * saved.each)
    assert estimate == pytest.approx(measured_bytes, rel=0.25)


def test_weights_gradients_and_momentum_are_part_of_the_estimate():
    """Protects models with many parameters and few activations."""
    settings = VARIANTS["vit"].model
    fixed = 3 * 4 * PUBLISHED_PARAMETERS["vit"]
    one, two = (estimate_training_memory(settings, 32, 10, n) for n in (1, 2))
    assert fixed < one < two < 2 * one


def test_shared_attention_needs_no_memory_for_each_image():
    """Protects what sets the quadratic models apart: one mask for the whole batch."""
    shared = saved_activations(VARIANTS["quadratic-9h-isotropic"].model, 32)
    own = saved_activations(VARIANTS["learned2d-9h-nocontent"].model, 32)
    layers, heads, positions = 6, 9, 256
    masks_and_what_they_leave = 2 * layers * heads * positions**2
    assert own.each - shared.each == masks_and_what_they_leave
    assert shared.once - own.once == masks_and_what_they_leave


@every_variant
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_micro_batch_is_the_largest_that_fits(name, precision):
    """Protects the recipe's batch on small cards (R1): 100, 50, 25, 13, 7, 4, 2, 1."""
    settings, candidates = VARIANTS[name].model, [100, 50, 25, 13, 7, 4, 2, 1]
    needs = [
        estimate_training_memory(settings, 32, 10, each, precision)
        for each in candidates
    ]
    assert all(more >= fewer for more, fewer in pairwise(needs))
    for index, need in enumerate(needs):
        arguments = (settings, 32, 10, 100)
        assert largest_micro_batch(*arguments, need, precision) >= candidates[index]
        chosen = largest_micro_batch(*arguments, need - 1, precision)
        needed = estimate_training_memory(settings, 32, 10, chosen, precision)
        assert chosen == 1 or needed < need


def test_one_image_is_tried_even_where_none_is_estimated_to_fit():
    """Protects a run on a small device from being refused on an estimate alone."""
    assert largest_micro_batch(VARIANTS["vit"].model, 32, 10, 100, 1) == 1


def test_the_reviewers_case_needs_more_than_their_card():
    """Protects against R1: learned encodings at batch 100 on a card of 8 GB."""
    settings = VARIANTS["learned2d-9h-content"].model
    assert estimate_training_memory(settings, 32, 10, 100) > 8e9
    assert 1 < largest_micro_batch(settings, 32, 10, 100, int(8e9)) < 100


def test_training_takes_three_times_the_operations_of_inference():
    """Protects the plan's time estimate."""
    settings = VARIANTS["resnet18"].model
    flops = flops_by_formula(settings, 32, 10)
    assert estimate_training_flops(settings, 32, 10) == 3 * flops


def test_the_plan_needs_no_torch():
    """Protects the plan from the seconds that importing torch takes."""
    code = "import sys, reattn.costs.memory; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
