"""What the report's attention explorer is about: which variants, which pairs."""

from collections.abc import Mapping

from reattn.config.paths import APART
from reattn.config.variants import Variant

ALIGNMENT = "D1"  # the deviation that changes where heads look


def is_explored(variant: Variant) -> bool:
    """Whether the explorer shows a variant: the report's, one's own, D1's twins."""
    return variant.group not in APART or variant.deviation == ALIGNMENT


def explored_pairs(variants: Mapping[str, Variant]) -> list[tuple[str, str, str]]:
    """Pairs that differ in one thing, of explored variants.

    Returns:
        What differs (hierarchical or aligned), the id of the variant that it is
        compared with, and its own id.
    """
    found = []
    for name, variant in variants.items():
        if is_explored(variant) and variant.ordinary in variants:
            found.append(("hierarchical", variant.ordinary, name))
        if variant.deviation == ALIGNMENT and variant.compared_with in variants:
            found.append(("aligned", variant.compared_with, name))
    return sorted(found, key=lambda pair: pair[0], reverse=True)
