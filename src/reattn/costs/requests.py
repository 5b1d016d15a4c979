"""What a run asks of a cluster: memory of the host and time, for every attempt.

A request that is too small costs an attempt, never a result: every attempt goes on
from the last finished epoch, and asks for more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from reattn.config.runs import Run
from reattn.costs.runs import image_bytes, job_memory, operations, steps
from reattn.errors import ConfigError

MEGABYTE = 2**20  # Slurm's unit
# Resident memory of a job besides the model's: Python with torch 540, the kernels that
# a step loads 200, Snakemake twice, in the job and in its step, 150 each. Measured on a
# CPU with torch 2.14 built for CUDA and Snakemake 9.27.
FRAMEWORK = 1_100
# On a GPU also the host's part of the CUDA context and its libraries. Assumed, not
# measured.
CUDA_CONTEXT = 3_000
# Resident memory above Python, torch and kernels against the estimate: 1.1 to 1.56 was
# measured over the full-size models, with freed memory kept (reattn.allocation).
MARGIN = 1.6
MOST_GROWTH = 4  # times the first attempt's memory

# Training operations a second of one CPU thread; the slowest model of cifar10-cpu
# reached 1.4e10.
THREAD_RATE = 1e10
# Small models are slower than their operations: a step's many small kernels take this
# long to start, in seconds. Assumed, not measured.
STEP = 0.05
TIME_MARGIN = 1.5
START = 10  # minutes: to start, to open the images, and to evaluate at the end
LIMITS = {
    "longest_job": "minutes, such as 1440",
    "operations_per_second": "operations a second, such as 5.0e+12",
}


@dataclass(frozen=True)
class Limits:
    """What the user says of the cluster, in config/config.yaml.

    Attributes:
        longest_job: Minutes that a job may take at most.
        operations_per_second: Training operations a second of one card.
    """

    longest_job: int
    operations_per_second: float


def limits_from(config: Mapping[str, Any]) -> Limits:
    """The two limits of a configuration, as numbers above 0.

    Raises:
        ConfigError: one is missing, is no number, or is not above 0.
    """
    found, problems = {}, []
    for key, meaning in LIMITS.items():
        try:
            found[key] = float(config.get(key))
        except (TypeError, ValueError):
            found[key] = 0
        if not 1 <= found[key] < float("inf"):
            problems.append(
                f"config/config.yaml: {key} = {config.get(key)!r} is not a number "
                f"from 1. Write {meaning}."
            )
    if problems:
        raise ConfigError(problems)
    return Limits(int(found["longest_job"]), found["operations_per_second"])


def memory_request(run: Run, attempt: int = 1) -> int:
    """Memory of the host for training a run, in MB; it grows with the attempts.

    On a CPU the model's work is there as well; on a GPU it is on the card. Images
    are counted twice: as the file that is checked, and as the copy that is used.

    Args:
        run: The run.
        attempt: Counted from 1.
    """
    on_card = run.study.training.device == "gpu"
    step = CUDA_CONTEXT if on_card else MARGIN * job_memory(run) / MEGABYTE
    first = FRAMEWORK + step + 2 * image_bytes(run) / MEGABYTE
    return ceil(min(attempt, MOST_GROWTH) * first)


def runtime_request(run: Run, limits: Limits, attempt: int = 1) -> int:
    """Time for one attempt at training a run, in minutes.

    What the whole run needs at the assumed rate, with a margin, if a job may take
    that long; else the longest job. Later attempts ask for more: an epoch that did not
    fit into the first must fit into one of them.

    Args:
        run: The run.
        limits: What the user says of the cluster.
        attempt: Counted from 1.
    """
    needed = minutes_needed(run, limits.operations_per_second)
    if not needed:
        return limits.longest_job
    return min(limits.longest_job, attempt * ceil(START + TIME_MARGIN * needed))


def minutes_needed(run: Run, card_rate: float) -> float:
    """Minutes of all epochs at the assumed rate; 0 where the data is not known.

    Args:
        run: The run.
        card_rate: Training operations a second of one card.
    """
    training = run.study.training
    threads_rate = THREAD_RATE * training.threads
    rate = card_rate if training.device == "gpu" else threads_rate
    return (operations(run) / rate + STEP * steps(run)) / 60
