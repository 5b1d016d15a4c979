"""A measure of attention over some layers of a model, from the rows of each layer."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from reattn.tables.cells import NOT_AVAILABLE

Cells = Mapping[str, str]


class Measured(NamedTuple):
    """A mean over images and the standard error of that mean (NaN: not known)."""

    value: float
    error: float

    def minus(self, other: "Measured") -> "Measured":
        """Both look at the same images, so their errors may add up."""
        return Measured(self.value - other.value, self.error + other.error)


# From the layers in order to those whose mean is taken.
CHOICES = {
    "first": slice(None, 1),
    "last": slice(-1, None),
    "last-two": slice(-2, None),
    "all": slice(None),
}
# With fewer layers nothing would be left to set the chosen ones apart from.
FEWEST = {"last-two": 3, "last-minus-first": 2, "last-two-minus-first": 3}


def by_seed(
    rows: Sequence[Cells], state: str, metric: str, layers: str
) -> dict[int, Measured]:
    """A measure of the chosen layers by seed; seeds with too few layers are left out.

    Args:
        rows: Rows of whole layers of a file of attention metrics.
        state: trained or initial.
        metric: A column.
        layers: A key of `CHOICES`, or two of them with `-minus-` between.
    """
    found: dict[int, dict[int, Measured]] = {}
    for row in rows:
        if row["state"] == state:
            own = found.setdefault(int(row["seed"]), {})
            own[int(row["layer"])] = _measured(row, metric)
    return {
        seed: _chosen([own[layer] for layer in sorted(own)], layers)
        for seed, own in found.items()
        if len(own) >= FEWEST.get(layers, 1)
    }


def _measured(row: Cells, metric: str) -> Measured:
    spread = row[f"{metric}_std"]
    # One image has no spread.
    deviation = math.nan if spread == NOT_AVAILABLE else float(spread)
    return Measured(float(row[metric]), deviation / math.sqrt(int(row["images"])))


def _chosen(ordered: Sequence[Measured], layers: str) -> Measured:
    one, _, other = layers.partition("-minus-")
    found = _mean(ordered[CHOICES[one]])
    return found.minus(_mean(ordered[CHOICES[other]])) if other else found


def _mean(chosen: Sequence[Measured]) -> Measured:
    """All layers look at the same images, so their errors may add up."""
    count = len(chosen)
    value = math.fsum(each.value for each in chosen) / count
    return Measured(value, math.fsum(each.error for each in chosen) / count)
