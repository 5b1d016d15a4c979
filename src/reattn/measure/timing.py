"""How long a model takes for an image, and how many images it takes a second."""

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from reattn.costs.shapes import CHANNELS
from reattn.measure.stopwatch import Stopwatch, time_iterations
from reattn.models.recording import evaluating


@dataclass(frozen=True)
class Timing:
    """Wall times of one batch, in milliseconds, over n iterations.

    `std` is the sample standard deviation (0 for n = 1); `q1` and `q3` are the
    quartiles, interpolated linearly.
    """

    mean: float
    std: float
    median: float
    q1: float
    q3: float
    n: int


@dataclass(frozen=True)
class Throughput:
    """Images a second over n timed batches."""

    images_per_second: float
    n: int


def measure_wall_time(
    model: nn.Module,
    *,
    image_size: int,
    device: str = "cpu",
    iterations: int = 300,
    warmup: int = 10,
    max_seconds: float | None = None,
    stopwatch: Stopwatch | None = None,
) -> Timing:
    """Time the inference of one image (batch 1, eval mode, no gradients).

    Args:
        model: The model, on `device`; it is left in the mode it came in.
        image_size: Side of the image, in pixels.
        device: A torch device.
        iterations: Timed iterations.
        warmup: Iterations before them, whose times are thrown away.
        max_seconds: Stop once the timed iterations have taken this long, but not
            before `FEWEST_ITERATIONS` (or `iterations`, if fewer); None: never.
        stopwatch: Clock and synchronisation; None: those of `device`.
    """
    images = random_images(1, image_size, device)
    with _inference(model, device):
        seconds = time_iterations(
            partial(model, images),
            stopwatch or Stopwatch.of(device),
            iterations=iterations,
            warmup=warmup,
            max_seconds=max_seconds,
        )
    return summarise([1000 * each for each in seconds])


def throughput(
    model: nn.Module,
    *,
    image_size: int,
    device: str = "cpu",
    batch: int = 16,
    iterations: int = 100,
    warmup: int = 2,
    max_seconds: float | None = None,
    stopwatch: Stopwatch | None = None,
) -> Throughput:
    """Images a second at the given batch; arguments as in `measure_wall_time`."""
    images = random_images(batch, image_size, device)
    with _inference(model, device):
        seconds = time_iterations(
            partial(model, images),
            stopwatch or Stopwatch.of(device),
            iterations=iterations,
            warmup=warmup,
            max_seconds=max_seconds,
        )
    return Throughput(batch * len(seconds) / sum(seconds), len(seconds))


def summarise(milliseconds: list[float]) -> Timing:
    """Reduce single times to mean, deviation, median and quartiles."""
    if len(milliseconds) == 1:
        return Timing(milliseconds[0], 0.0, *milliseconds * 3, n=1)
    q1, median, q3 = statistics.quantiles(milliseconds, n=4, method="inclusive")
    return Timing(
        mean=statistics.fmean(milliseconds),
        std=statistics.stdev(milliseconds),
        median=median,
        q1=q1,
        q3=q3,
        n=len(milliseconds),
    )


def random_images(batch: int, image_size: int, device: str) -> torch.Tensor:
    """The same normal numbers at every call, (batch, 3, size, size)."""
    generator = torch.Generator().manual_seed(0)
    shape = (batch, CHANNELS, image_size, image_size)
    return torch.randn(shape, generator=generator).to(device)


@contextmanager
def _inference(model: nn.Module, device: str) -> Iterator[None]:
    """Eval mode without gradients; model and random streams are as before after.

    ViT draws its class token from torch's stream at every forward.
    """
    gpus = [device] if torch.device(device).type == "cuda" else []
    with (
        evaluating(model),
        torch.inference_mode(),
        torch.random.fork_rng(devices=gpus),
    ):
        yield
