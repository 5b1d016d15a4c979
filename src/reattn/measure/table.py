"""All variants of a study, measured one after another in one process."""

from collections.abc import Callable, Mapping
from pathlib import Path

from reattn.config.variants import Variant
from reattn.files import write_json, write_rows
from reattn.measure.conditions import Conditions, Repetitions, conditions_hold
from reattn.measure.rows import COLUMNS, measure_variant, summary

Progress = Callable[[str], None]


def measure_study(
    variants: Mapping[str, Variant],
    *,
    image_size: int,
    num_classes: int,
    destination: Path,
    device: str = "cpu",
    threads: int = 1,
    precision: str = "fp32",
    repetitions: Repetitions | None = None,
    micro_batches: Mapping[str, int] | None = None,
    progress: Progress = print,
) -> None:
    """Measure every variant and write measurements.csv and measurements.json.

    The weights are fresh: what is measured does not depend on their values. A
    variant that cannot be built or run keeps what was measured before it failed;
    the rest of its row is blank and `reason` tells why.

    Args:
        variants: Variants by id, as the study resolves them.
        image_size: Side of the images, in pixels.
        num_classes: Classes to tell apart.
        destination: Folder of the two files, which are written whole, at the end.
        device: A torch device.
        threads: CPU threads.
        precision: "fp32", "tf32" or "bf16".
        repetitions: How often to time; None: the report's own numbers.
        micro_batches: Images of a step of training whose memory is measured, by
            variant; of the others it is not measured.
        progress: Is called with a line for every variant.
    """
    conditions = Conditions(
        image_size=image_size,
        num_classes=num_classes,
        device=device,
        threads=threads,
        precision=precision,
        repetitions=repetitions or Repetitions(),
    )
    batches = micro_batches or {}
    rows = []
    with conditions_hold(conditions):
        for place, (name, variant) in enumerate(variants.items(), start=1):
            batch = batches.get(name)
            rows.append(measure_variant(name, variant, conditions, batch))
            progress(f"{place}/{len(variants)} {summary(rows[-1])}")
    write_rows(Path(destination) / "measurements.csv", rows, COLUMNS)
    write_json(Path(destination) / "measurements.json", conditions.describe())
