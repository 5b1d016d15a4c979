"""Which runs' accuracies count, and which runs of two variants are pairs."""

from collections.abc import Sequence

from reattn.tables.differences import Difference, difference
from reattn.tables.runs import RunRecord

HEADLINE = "accuracy"
AUTHORS = "accuracy_authors"
_PAIRED_SETTINGS = ("recipe", "budget", "data", "training", "validation_images")


def accuracies(runs: Sequence[RunRecord], protocol: str = HEADLINE) -> dict[int, float]:
    """Accuracy in percent by seed, of the runs whose numbers are the study's.

    Args:
        runs: Of one variant.
        protocol: HEADLINE, or AUTHORS for the authors' protocol.
    """
    return {
        run.seed: run.metrics[protocol]
        for run in runs
        if run.counts and run.metrics.get(protocol) is not None
    }


def images_behind(runs: Sequence[RunRecord], protocol: str = HEADLINE) -> int | None:
    """Test images of every run that counts; None: they differ or are not known."""
    counts = {_images(run, protocol) for run in runs if run.counts}
    return counts.pop() if len(counts) == 1 else None


def _images(run: RunRecord, protocol: str) -> int | None:
    """How many images an accuracy was taken on; the authors' may be on a part."""
    chosen = run.metrics.get("evaluation_images", "all")
    return run.test_images if protocol == HEADLINE or chosen == "all" else int(chosen)


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
    first: Sequence[RunRecord], second: Sequence[RunRecord], protocol: str = HEADLINE
) -> Difference | None:
    """The difference of two variants' accuracies, in pairs where their runs are.

    Args:
        first: Runs of one variant.
        second: Runs of the other, whose accuracy less the first one's is told.
        protocol: HEADLINE, or AUTHORS for the authors' protocol.

    Returns:
        The difference, or None where a side has no run that counts.
    """
    return difference(
        accuracies(first, protocol),
        accuracies(second, protocol),
        paired=is_paired(first, second),
        test_images=images_behind([*first, *second], protocol),
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
