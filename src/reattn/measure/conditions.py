"""Under which conditions the variants of a study are measured."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import torch

from reattn.measure.environment import describe_machine
from reattn.measure.precision import arithmetic


@dataclass(frozen=True)
class Repetitions:
    """How often everything is timed; the report's own numbers by default.

    Attributes:
        iterations: Timed passes of one image, a form.
        warmup: Passes before them, not timed.
        throughput_batch: Images a pass for throughput.
        throughput_iterations: Timed passes for throughput, a form.
        throughput_warmup: Passes before them, not timed.
        max_seconds: Time after which a measurement stops early; None: never.
    """

    iterations: int = 300
    warmup: int = 10
    throughput_batch: int = 16
    throughput_iterations: int = 100
    throughput_warmup: int = 2
    max_seconds: float | None = None


@dataclass(frozen=True)
class Conditions:
    """What all measurements of a study have in common."""

    image_size: int
    num_classes: int
    device: str
    threads: int
    precision: str
    repetitions: Repetitions

    def describe(self) -> dict[str, Any]:
        """Everything that a reader needs beside the numbers, for JSON."""
        common = {k: v for k, v in asdict(self).items() if k != "repetitions"}
        machine = describe_machine(self.device)
        return {
            **common,
            **asdict(self.repetitions),
            "device_name": machine.pop("device"),
            **machine,
            "definitions": DEFINITIONS,
        }


DEFINITIONS = {
    "flops": "operations of the inference of one image: 2 for each multiply-"
    "accumulate of matrix products and convolutions, counted on the plain form",
    "flops_aggregation": "operations of SAN's element-wise weighted sums, which "
    "flops does not hold; 0 where the same step is a matrix product",
    "wall_time": "milliseconds for one image (batch 1), eval mode, shipped form, "
    "device synchronised before the start and before the stop of every iteration",
    "wall_time_plain": "the same for the plain form, written as the equations read",
    "throughput": "images a second at throughput_batch, timed in the same way",
    "training_memory": "the most that a training step (forward, backward, update) of "
    "memory_batch images holds, in megabytes of 2^20 bytes: weights, gradients, "
    "momentum and activations, in a process of its own; measured for models that "
    "differ from another one in their number of layers alone",
    "n": "iterations timed; fewer than asked for where max_seconds ran out first",
}


@contextmanager
def conditions_hold(conditions: Conditions) -> Iterator[None]:
    """Set threads and arithmetic within; torch's settings are as before after."""
    threads = torch.get_num_threads()
    torch.set_num_threads(conditions.threads)
    try:
        with arithmetic(conditions.precision, conditions.device):
            yield
    finally:
        torch.set_num_threads(threads)
