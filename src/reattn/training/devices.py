"""The device of a run, its threads and its arithmetic."""

import contextlib
import logging
import os
from collections.abc import Callable

import torch

from reattn.allocation import keep_freed_memory
from reattn.cards import Card, held, hold_card
from reattn.config.studies import TrainingSettings
from reattn.errors import DeviceError

log = logging.getLogger(__name__)


def use_device(training: TrainingSettings) -> torch.device:
    """Set threads, determinism, arithmetic and memory; return the device to train on.

    For a GPU study, one card is held from here to the end of the process; the call
    waits while all are held by others. A pretended card is the CPU.

    Raises:
        DeviceError: the study needs a GPU and torch cannot use one.
    """
    # cuBLAS repeats its sums in one order only with a fixed workspace, which it
    # reads when CUDA starts.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    keep_freed_memory()
    torch.set_num_threads(training.threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    # Nothing reads what was not written; filling it costs up to 7 % of a step.
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cudnn.benchmark = False
    tf32 = training.precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    if training.device == "cpu":
        return torch.device("cpu")
    return _card_of_its_own()


def _card_of_its_own() -> torch.device:
    if held() is None and torch.cuda.is_initialized():
        raise DeviceError(
            "CUDA was started before a card was held, so that it may be using another "
            "process's card. Call use_device before anything else uses the GPU."
        )
    card = hold_card()
    if card is not None and card.pretended:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise DeviceError(no_gpu_message())
    if card is None:
        log.warning(
            "torch finds a GPU that NVIDIA's library does not list: it cannot be held, "
            "so run one GPU job at a time"
        )
    else:
        _require_torch_uses(card)
    return torch.device("cuda", 0)


def _require_torch_uses(card: Card) -> None:
    """Start CUDA, which sees the card that is held and no other."""
    try:
        torch.cuda.init()
        count = torch.cuda.device_count()
    except RuntimeError as fault:
        problem = str(fault).splitlines()[0]
        raise DeviceError(f"CUDA cannot use the card {card}: {problem}") from None
    if count != 1:
        raise DeviceError(
            f"CUDA sees {count} cards and not {card.id} alone, which this process "
            "holds: something asked CUDA for its cards before a card was held."
        )


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
