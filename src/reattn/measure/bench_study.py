"""The bench over the variants of a study, each in a process of its own."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from statistics import geometric_mean

import torch

from reattn.allocation import keep_freed_memory
from reattn.config import load_resolved
from reattn.config.faults import suggestion
from reattn.config.variants import Variant
from reattn.errors import ConfigError
from reattn.files import write_json, write_rows
from reattn.measure.bench import Bench, Row, bench_variant
from reattn.measure.environment import describe_machine
from reattn.measure.precision import arithmetic
from reattn.measure.stopwatch import Stopwatch, time_iterations
from reattn.processes import PARENT, end_with_parent

SPEEDUPS = ("latency_speedup", "infer_speedup", "train_speedup")
SIDE = 2048  # of the matrices whose product is timed for comparison


def bench_study(
    name: str,
    chosen: Sequence[str],
    bench: Bench,
    *,
    threads: int,
    destination: Path | None,
    progress: Callable[[str], None],
) -> None:
    """Time variants of a study and print, and on demand write, what was found.

    Args:
        name: The study, for sizes and overrides.
        chosen: Variants; none: all of the study.
        bench: The conditions.
        threads: CPU threads.
        destination: A CSV file, beside which a JSON file tells the conditions.
        progress: Is called with a line a variant and a last one.

    Raises:
        ConfigError: an unknown variant, or faults of the study.
    """
    variants = _chosen(name, chosen)
    rows = []
    for row in _rows(variants, bench, threads):
        rows.append(row)
        progress(line_of(row))
    progress(_means(rows))
    if destination:
        write_rows(destination, rows, list(rows[0]))
        conditions = {**asdict(bench), "threads": threads, "study": name}
        conditions |= {"matrix_product_flops": product_rate(bench.device, threads)}
        conditions |= describe_machine(bench.device)
        write_json(destination.with_suffix(".json"), conditions)


def _chosen(name: str, chosen: Sequence[str]) -> dict[str, Variant]:
    _, variants = load_resolved(name)
    problems = [
        f"Study {name} has no variant {one!r}. {suggestion(one, variants)}"
        for one in chosen
        if one not in variants
    ]
    if problems:
        raise ConfigError(problems)
    return {one: variants[one] for one in chosen or variants}


def _rows(variants: dict[str, Variant], bench: Bench, threads: int) -> Iterator[Row]:
    """One process a variant: what one holds in memory is not another's."""
    os.environ[PARENT] = str(os.getpid())
    with ProcessPoolExecutor(
        1, mp_context=get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        for name, variant in variants.items():
            yield pool.submit(_bench_alone, name, variant, bench, threads).result()


def _bench_alone(name: str, variant: Variant, bench: Bench, threads: int) -> Row:
    end_with_parent()
    keep_freed_memory()
    torch.set_num_threads(threads)
    # Mixed precision is entered around forward passes alone, by the bench.
    kind = "fp32" if bench.precision == "bf16" else bench.precision
    with arithmetic(kind, bench.device):
        return bench_variant(name, variant, bench)


def line_of(row: Row) -> str:
    """One line about a variant."""
    return (
        f"{row['variant']:<26} {row['latency_ms']:7.1f} ms"
        f" ({row['latency_speedup']:.2f}x plain,"
        f" {row['latency_over_floor']:.2f}x floor)"
        f"  inference {row['infer_img_s']:7.1f}/s"
        f" ({row['infer_speedup']:.2f}x, {row['infer_over_floor']:.2f}x)"
        f"  training {row['train_img_s']:6.1f}/s"
        f" ({row['train_speedup']:.2f}x, {row['train_over_floor']:.2f}x)"
        f"  {row['peak_memory_mb']:.0f} MB"
    )


def _means(rows: Sequence[Row]) -> str:
    means = [geometric_mean(row[column] for row in rows) for column in SPEEDUPS]
    latency, inference, training = means
    return (
        f"geometric means against the plain forms: latency {latency:.2f}x, inference "
        f"{inference:.2f}x, training {training:.2f}x"
    )


def product_rate(device: str, threads: int) -> float:
    """Operations a second of one large matrix product, to compare machines by."""
    torch.set_num_threads(threads)
    matrix = torch.ones(SIDE, SIDE, device=device)
    times = time_iterations(
        lambda: matrix @ matrix, Stopwatch.of(device), iterations=5, warmup=2
    )
    return 2 * SIDE**3 / sorted(times)[2]
