"""The verb check-gpu: which cards can torch use, and if none, why not?"""

import os
import subprocess

import typer

from reattn.cards import machine_cards, visible_cards
from reattn.cards.visible import VISIBLE
from reattn.errors import DeviceError


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("check-gpu")(check_gpu)


def check_gpu() -> None:
    """Tell which GPUs this process may use; exit with 2 where there is none.

    Asks the driver and torch; takes no card from a training; writes nothing.
    """
    cards = visible_cards()
    problem = None if any(card.pretended for card in cards) else _problem()
    if problem is not None:
        raise DeviceError(_explanation(problem))
    for line in cards or _as_torch_lists():
        typer.echo(f"card {line}")


def _problem() -> str | None:
    """Why a card cannot multiply two small matrices; None if all can."""
    import torch

    if not torch.cuda.is_available():
        return "torch finds none"
    try:
        for index in range(torch.cuda.device_count()):
            matrix = torch.ones(8, 8, device=f"cuda:{index}")
            if float((matrix @ matrix).sum()) != 512:
                return f"number {index} miscalculates"
    except RuntimeError as fault:
        return str(fault).splitlines()[0]
    return None


def _as_torch_lists() -> list[str]:
    """Cards that NVIDIA's library does not know, such as AMD's."""
    import torch

    count = torch.cuda.device_count()
    return [f"{index}: {torch.cuda.get_device_name(index)}" for index in range(count)]


def _explanation(problem: str) -> str:
    import torch

    return (
        f"no usable GPU: {problem}.\n"
        f"  driver: {_driver()}\n"
        f"  torch: {torch.__version__}, built for {_build(torch.version.cuda)}\n"
        f"  {VISIBLE}: {_visible()}\n"
        "What works here without one:\n"
        "  snakemake --cores all --config study=demo\n"
        "  snakemake --cores all --config study=cifar10-cpu data_path=PATH\n"
        "  snakemake -n"
    )


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5)
    except FileNotFoundError:
        return "none found (no nvidia-smi)"
    except subprocess.TimeoutExpired:
        return "nvidia-smi does not answer"
    said = (done.stdout or done.stderr).strip().splitlines()
    return "; ".join(said) or f"nvidia-smi exits with {done.returncode}"


def _build(cuda: str | None) -> str:
    return f"CUDA {cuda}" if cuda else "the CPU only"


def _visible() -> str:
    value = os.environ.get(VISIBLE)
    if value is None:
        return "not set"
    if not value.strip():
        return "empty, which hides every card"
    if visible_cards():
        return f"{value!r}"
    there = ", ".join(card.id for card in machine_cards()) or "none is listed here"
    return f"{value!r}, which names no card of this machine ({there})"
