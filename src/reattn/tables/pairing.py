"""Which runs' accuracies count, and which runs of two variants are pairs."""

from collections.abc import Sequence

from reattn.tables.differences import Difference, difference
from reattn.tables.runs import RunRecord

_PAIRED_SETTINGS = ("recipe", "budget", "data", "training", "validation_images")


def accuracies(runs: Sequence[RunRecord]) -> dict[int, float]:
    """Accuracy in percent by seed, of the runs whose numbers are the study's."""
    return {
        run.seed: run.metrics["accuracy"]
        for run in runs
        if run.counts and run.metrics.get("accuracy") is not None
    }


def images_behind(runs: Sequence[RunRecord]) -> int | None:
    """Test images of every run that counts; None: they differ or are not known."""
    counts = {run.test_images for run in runs if run.counts}
    return counts.pop() if len(counts) == 1 else None


def is_paired(first: Sequence[RunRecord], second: Sequence[RunRecord]) -> bool:
    """Whether every seed's two runs started alike and saw the same images.

    They did where the digests of their initial weights are known and equal, and all
    settings but those of the model. Runs without an accuracy that counts do not matter.
    """
    both = [
        (one, other)
        for one in first
        for other in second
        if one.seed == other.seed and accuracies([one]) and accuracies([other])
    ]
    return bool(both) and all(_alike(one, other) for one, other in both)


def compared(
    first: Sequence[RunRecord], second: Sequence[RunRecord]
) -> Difference | None:
    """The difference of two variants' accuracies, in pairs where their runs are.

    Args:
        first: Runs of one variant.
        second: Runs of the other, whose accuracy less the first one's is told.

    Returns:
        The difference, or None where a side has no run that counts.
    """
    return difference(
        accuracies(first),
        accuracies(second),
        paired=is_paired(first, second),
        test_images=images_behind([*first, *second]),
    )


def _alike(one: RunRecord, other: RunRecord) -> bool:
    digests = {run.metrics.get("initial_weights") for run in (one, other)}
    if len(digests) != 1 or None in digests:
        return False
    return _surroundings(one) == _surroundings(other)


def _surroundings(run: RunRecord) -> list[object]:
    settings = run.metrics.get("settings") or {}
    return [
        *(settings.get(part) for part in _PAIRED_SETTINGS),
        run.metrics.get("data_checksum"),
    ]
