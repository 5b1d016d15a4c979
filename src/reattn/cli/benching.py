"""The verb bench: how fast the models are."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command()(bench)


def bench(
    study: Annotated[
        str, typer.Option(help="Sizes and overrides are those of this study.")
    ] = "paper",
    variants: Annotated[
        str, typer.Option(help="Variants, separated by commas; none: all.")
    ] = "",
    csv: Annotated[
        Path | None, typer.Option(help="Write the figures here, as CSV and JSON.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    precision: Annotated[
        Literal["fp32", "tf32", "bf16"], typer.Option(help="Arithmetic.")
    ] = "fp32",
    threads: Annotated[int, typer.Option(min=0, help="CPU threads; 0: all cores.")] = 0,
    passes: Annotated[
        int, typer.Option(min=1, help="Timed passes of a batch, and training steps.")
    ] = 5,
) -> None:
    """Time models: latency, inference, training, each beside plain form and floor.

    Needs no data and no weights. Writes CSV, and a JSON file beside it. Let nothing
    else run on the machine meanwhile.
    """
    from reattn.config import load_study
    from reattn.measure.bench import Bench
    from reattn.measure.bench_study import bench_study
    from reattn.measure.environment import usable_cores

    size = load_study(study).data.image_size
    bench_study(
        study,
        [name for name in variants.split(",") if name],
        Bench(image_size=size, device=device, precision=precision, passes=passes),
        threads=threads or usable_cores(),
        destination=csv,
        progress=typer.echo,
    )
