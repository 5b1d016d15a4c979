"""One variant, measured."""

from typing import Any

from torch import nn

from reattn.config.variants import Variant
from reattn.costs.formulas import aggregation_flops, flops_by_formula
from reattn.errors import ReattnError
from reattn.measure.conditions import Conditions
from reattn.measure.flops import (
    count_flops,
    count_parameters,
    count_unused_parameters,
)
from reattn.measure.timing import measure_wall_time, throughput
from reattn.measure.training_memory import measure_step
from reattn.models.build import build_model
from reattn.models.forms import set_form
from reattn.training.steps import is_out_of_memory

STATISTICS = ("mean", "std", "median", "q1", "q3")
SUFFIXES = {"shipped": "", "plain": "_plain"}
COLUMNS = (
    "variant",
    "params",
    "params_unused",
    "flops",
    "flops_formula",
    "flops_aggregation",
    *(f"wall_time_ms_{name}" for name in STATISTICS),
    *(f"wall_time_plain_ms_{name}" for name in STATISTICS),
    "wall_time_n",
    "wall_time_plain_n",
    "throughput_img_s",
    "throughput_plain_img_s",
    "throughput_n",
    "throughput_plain_n",
    "training_memory_mb",
    "memory_batch",
    "reason",
)
Row = dict[str, Any]


def measure_variant(
    name: str, variant: Variant, conditions: Conditions, micro_batch: int | None = None
) -> Row:
    """One row of measurements.csv, by column.

    A variant that cannot be built or run keeps what was measured before it failed;
    the other columns are missing and `reason` tells why.

    Args:
        name: The variant's id.
        variant: The variant.
        conditions: Of all measurements.
        micro_batch: Images of a training step whose memory is measured; None: it is
            not.
    """
    row: Row = {"variant": name}
    try:
        _measure_into(row, variant, conditions)
        if micro_batch:
            step = measure_step(variant, micro_batch, conditions)
            row |= {"training_memory_mb": step.megabytes, "memory_batch": step.batch}
    except Exception as fault:  # one variant's fault must not cost the others' rows
        row["reason"] = _one_line(fault)
    return row


# Fills the row as it goes, so that a failure keeps what was measured before it.
def _measure_into(row: Row, variant: Variant, conditions: Conditions) -> None:
    sizes = (conditions.image_size, conditions.num_classes)
    model = build_model(variant, image_size=sizes[0], num_classes=sizes[1])
    model.to(conditions.device)
    row["params"] = count_parameters(model)
    row["params_unused"] = count_unused_parameters(model, sizes[0])
    row["flops"] = count_flops(model, sizes[0])
    row["flops_formula"] = flops_by_formula(variant.model, *sizes)
    row["flops_aggregation"] = aggregation_flops(variant.model, sizes[0])
    for form, suffix in SUFFIXES.items():
        _time_into(row, suffix, set_form(model, form), conditions)


def _time_into(row: Row, suffix: str, model: nn.Module, conditions: Conditions) -> None:
    often = conditions.repetitions
    common = {
        "image_size": conditions.image_size,
        "device": conditions.device,
        "max_seconds": often.max_seconds,
    }
    time = measure_wall_time(
        model, iterations=often.iterations, warmup=often.warmup, **common
    )
    for name in STATISTICS:
        row[f"wall_time{suffix}_ms_{name}"] = getattr(time, name)
    row[f"wall_time{suffix}_n"] = time.n
    rate = throughput(
        model,
        batch=often.throughput_batch,
        iterations=often.throughput_iterations,
        warmup=often.throughput_warmup,
        **common,
    )
    row[f"throughput{suffix}_img_s"] = rate.images_per_second
    row[f"throughput{suffix}_n"] = rate.n


def _one_line(fault: Exception) -> str:
    text = " ".join(str(fault).split())
    if isinstance(fault, ReattnError):
        return text
    if is_out_of_memory(fault):
        return "out of memory"
    return f"{type(fault).__name__}: {text}"


def summary(row: Row) -> str:
    """One line about a measured variant."""
    if row.get("reason"):
        return f"{row['variant']}: {row['reason']}"
    return (
        f"{row['variant']}: {row['params']:,} parameters, "
        f"{row['flops'] / 1e9:.3f} GFLOPs, "
        f"{row['wall_time_ms_median']:.2f} ms (plain "
        f"{row['wall_time_plain_ms_median']:.2f} ms) an image"
    )
