"""The verb check-gpu: is there a card that torch can use, and if not, why not?"""

import os
import subprocess

import typer

from reattn.errors import DeviceError


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("check-gpu")(check_gpu)


def check_gpu() -> None:
    """Tell which GPUs torch can use here; exit with 2 where there is none.

    Asks the driver and torch; writes nothing.
    """
    import torch

    problem = _problem()
    if problem is None:
        for index in range(torch.cuda.device_count()):
            typer.echo(f"GPU {index}: {torch.cuda.get_device_name(index)}")
        return
    raise DeviceError(
        f"no usable GPU: {problem}.\n"
        f"  driver: {_driver()}\n"
        f"  torch: {torch.__version__}, built for {_build(torch.version.cuda)}\n"
        f"  CUDA_VISIBLE_DEVICES: {_visible()}\n"
        "What works here without one:\n"
        "  snakemake --cores all --config study=demo\n"
        "  snakemake --cores all --config study=cifar10-cpu data_path=PATH\n"
        "  snakemake -n"
    )


def _problem() -> str | None:
    """Why the first card cannot multiply two small matrices; None if it can."""
    import torch

    if not torch.cuda.is_available():
        return "torch finds none"
    try:
        matrix = torch.ones(8, 8, device="cuda")
        torch.cuda.synchronize()
        return None if float((matrix @ matrix).sum()) == 512 else "it miscalculates"
    except RuntimeError as fault:
        return str(fault).splitlines()[0]


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
    value = os.environ.get("CUDA_VISIBLE_DEVICES")
    if value is None:
        return "not set"
    return f"{value!r}" if value.strip() else "empty, which hides every card"
