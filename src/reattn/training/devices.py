"""The device of a run, its threads and its arithmetic."""

import contextlib
import os
from collections.abc import Callable

import torch

from reattn.config.studies import TrainingSettings
from reattn.errors import DeviceError


def use_device(training: TrainingSettings) -> torch.device:
    """Set threads, determinism and arithmetic; return the device to train on.

    Raises:
        DeviceError: the study needs a GPU and torch cannot use one.
    """
    # cuBLAS repeats its sums in one order only with a fixed workspace, which it
    # reads when CUDA starts.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(training.threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    tf32 = training.precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    if training.device == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise DeviceError(no_gpu_message())
    return torch.device("cuda", 0)


def no_gpu_message() -> str:
    """What torch sees of GPUs here, in one sentence."""
    build = torch.version.cuda or "CPU only"
    return (
        "The study needs a GPU and torch finds none that it can use "
        f"(torch {torch.__version__}, built for CUDA: {build}). Run it on a machine "
        "with a GPU, or choose a CPU study: --config study=demo."
    )


def autocast_for(training: TrainingSettings, device: torch.device) -> Callable:
    """A maker of the context in which forward passes run."""
    if training.precision == "bf16":
        return lambda: torch.autocast(device.type, dtype=torch.bfloat16)
    return contextlib.nullcontext
