"""How fast every variant is, beside its plain form and beside the floor.

The floor of a form is what its matrix products take alone, or, for local attention,
what its bytes take at the speed of a copy.
"""

import statistics
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from reattn.config.variants import Variant
from reattn.measure.flops import count_flops, count_parameters
from reattn.measure.memory import peak_memory
from reattn.measure.products import products_of, seconds_alone
from reattn.measure.stopwatch import Stopwatch, time_iterations
from reattn.measure.timing import random_images
from reattn.measure.traffic import bytes_moved, copy_bandwidth
from reattn.models.build import build_model
from reattn.models.forms import set_form
from reattn.training.state import optimizer_of
from reattn.training.steps import Step

LOCAL = ("san", "ha-san")  # families whose work is moving data, not multiplying
CLASSES = 10
Row = dict[str, Any]


@dataclass(frozen=True)
class Bench:
    """The conditions of a bench.

    Attributes:
        image_size: Side of the images, in pixels.
        device: A torch device.
        precision: "fp32", "tf32" or "bf16".
        batch: Images of a throughput pass and of a training step.
        latency_passes: Timed passes of one image.
        passes: Timed passes of a batch, and timed training steps.
    """

    image_size: int = 32
    device: str = "cpu"
    precision: str = "fp32"
    batch: int = 16
    latency_passes: int = 20
    passes: int = 5

    def autocast(self) -> Any:
        """The context of forward passes."""
        if self.precision != "bf16":
            return nullcontext()
        return torch.autocast(torch.device(self.device).type, torch.bfloat16)


def bench_variant(name: str, variant: Variant, bench: Bench) -> Row:
    """All figures of one variant; times are medians, forms are timed in turn."""
    model = build_model(variant, image_size=bench.image_size, num_classes=CLASSES)
    row: Row = {
        "variant": name,
        "params": count_parameters(model),
        "flops": count_flops(model, bench.image_size),
    }
    model.to(bench.device)
    local = variant.model.family in LOCAL
    for task, images, passes in (
        ("latency", 1, bench.latency_passes),
        ("infer", bench.batch, bench.passes),
        ("train", bench.batch, bench.passes),
    ):
        work = _training(model, variant, bench) if task == "train" else None
        work = work or _inference(model, images, bench)
        times = _in_turn(model, work, passes, bench)
        floor = _floor(model, work, bench, local)
        row |= _figures(task, images, times, floor)
    row["floor"] = "bytes moved" if local else "matrix products"
    row["peak_memory_mb"] = peak_memory(_training(model, variant, bench), bench.device)
    return row


def _inference(model: nn.Module, count: int, bench: Bench) -> Callable[[], Any]:
    images = random_images(count, bench.image_size, bench.device)

    def work() -> None:
        model.eval()
        with torch.no_grad(), bench.autocast():
            model(images)

    return work


def _training(model: nn.Module, variant: Variant, bench: Bench) -> Callable[[], Any]:
    step = Step(
        model=model,
        optimizer=optimizer_of(model, variant.recipe),
        smoothing=variant.recipe.label_smoothing,
        micro_batch=bench.batch,
        autocast=bench.autocast,
    )
    # No step changes the weights: times must not depend on what was timed before.
    for group in step.optimizer.param_groups:
        group["lr"] = 0.0
    images = random_images(bench.batch, bench.image_size, bench.device)
    labels = torch.arange(bench.batch, device=bench.device) % CLASSES

    def work() -> None:
        model.train()
        step.take(images, labels)

    return work


def _in_turn(
    model: nn.Module, work: Callable[[], Any], passes: int, bench: Bench
) -> dict[str, float]:
    """Median seconds of each form, timed one after the other, pass by pass."""
    times: dict[str, list[float]] = {"plain": [], "shipped": []}
    stopwatch = Stopwatch.of(bench.device)
    for number in range(passes):
        for form, found in times.items():
            set_form(model, form)
            warmup = 2 if number == 0 else 1
            once = partial(time_iterations, work, stopwatch, iterations=1)
            found += once(warmup=warmup)
    set_form(model, "shipped")
    return {form: statistics.median(found) for form, found in times.items()}


def _floor(
    model: nn.Module, work: Callable[[], Any], bench: Bench, local: bool
) -> float:
    """Seconds below which the shipped form cannot get."""
    set_form(model, "shipped")
    if local:
        return bytes_moved(work) / copy_bandwidth(bench.device)
    return seconds_alone(products_of(work), bench.device)


def _figures(task: str, images: int, times: dict[str, float], floor: float) -> Row:
    speed = times["plain"] / times["shipped"]
    common = {f"{task}_speedup": speed, f"{task}_over_floor": times["shipped"] / floor}
    if task == "latency":
        shown = {"ms": 1000 * times["shipped"], "plain_ms": 1000 * times["plain"]}
    else:
        shown = {
            f"{form}img_s": images / seconds
            for form, seconds in (("", times["shipped"]), ("plain_", times["plain"]))
        }
    return {f"{task}_{key}": value for key, value in shown.items()} | common
