"""Findings about sizes, operations and memory."""

from reattn.claims.evidence import Evidence
from reattn.claims.verdicts import EXACT, MEASURED_ONCE, Finding
from reattn.claims.wording import joined
from reattn.config.loading import load_variants
from reattn.costs.parameters import parameters_by_formula

MEMORY = "training_memory_mb"
FULL_SIZE = "params_full_size"
IMAGE_SIZE, CLASSES = 32, 10  # of CIFAR-10
STEP_IMAGES = "memory_batch"


def ratio(evidence: Evidence, pair: tuple[str, str], column: str) -> Finding:
    """A column of models.csv, the second variant's over the first one's."""
    first, second = pair
    if column == FULL_SIZE:
        return _full_size(pair)
    subject = f"{second} over {first}"
    below, why_below = evidence.cell(first, column)
    above, why_above = evidence.cell(second, column)
    if below is None or above is None:
        return Finding(subject, None, reason=joined((why_below, why_above)))
    if not below:
        return Finding(subject, None, reason=f"{first}: {column} is 0")
    if column == MEMORY and (reason := _unlike_steps(evidence, pair)):
        return Finding(subject, None, reason=reason)
    cells = f"tables/models.csv, {column}: {first}, {second}"
    kind = MEASURED_ONCE if column == MEMORY else EXACT
    return Finding(subject, above / below, kind=kind, cells=cells)


def _full_size(pair: tuple[str, str]) -> Finding:
    """Parameters as the variants' files say, at the report's image size."""
    known = load_variants()
    below, above = (
        parameters_by_formula(known[name].model, IMAGE_SIZE, CLASSES) for name in pair
    )
    cells = f"config/variants, parameters at full size: {pair[0]}, {pair[1]}"
    return Finding(f"{pair[1]} over {pair[0]}", above / below, cells=cells)


def _unlike_steps(evidence: Evidence, pair: tuple[str, str]) -> str:
    """Why two steps' memory cannot be compared; empty where it can."""
    images = [evidence.cell(name, STEP_IMAGES)[0] for name in pair]
    if images[0] == images[1]:
        return ""
    counts = (f"{name} {count:g}" for name, count in zip(pair, images, strict=True))
    return f"steps of unequal numbers of images: {', '.join(counts)}"
