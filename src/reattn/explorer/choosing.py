"""What of the packs enters a page that has a limit: images go before variants."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reattn.explorer.scales import FOR_ALL_IMAGES, FOR_THE_FIRST

Entry = Mapping[str, Any]
TAG = 51  # bytes around a pack and its name in the page


@dataclass(frozen=True)
class Choice:
    """A part of an index.

    Attributes:
        levels: The highest level of the packs that have levels.
        images: How many of the images, from the first.
        variants: How many of the variants with packs, from the first.
    """

    levels: int
    images: int
    variants: int


def choose(index: Entry, fits: Callable[[Choice], bool]) -> Choice:
    """The best part of an index that fits into a page.

    First the levels become coarser, then images are left out from the last, then the
    levels get as coarse as they can, then variants are left out from the last.

    Args:
        index: Of `reattn.explorer.study`.
        fits: Whether a choice does; where none does, the choice is the smallest.
    """
    choices = [*_choices(len(index["images"]), len(packed(index)))]
    return next(filter(fits, choices), choices[-1])


def _choices(images: int, variants: int) -> Iterator[Choice]:
    for levels in FOR_ALL_IMAGES:
        yield Choice(levels, images, variants)
    for kept in range(images - 1, 0, -1):
        yield Choice(FOR_ALL_IMAGES[-1], kept, variants)
    for levels in FOR_THE_FIRST:
        yield Choice(levels, min(images, 1), variants)
    for kept in range(variants - 1, -1, -1):
        yield Choice(FOR_THE_FIRST[-1], min(images, 1), kept)


def packed(index: Entry) -> list[Entry]:
    """The variants that have packs."""
    return [entry for entry in index["variants"] if "packs" in entry]


def packs_in(variant: Entry, choice: Choice) -> list[Entry]:
    """A variant's packs that a choice takes."""
    return [
        pack
        for pack in variant["packs"]
        if pack["levels"] in (None, choice.levels)
        and (pack["image"] or 0) < choice.images
    ]


def size_of(index: Entry, choice: Choice) -> int:
    """Bytes in a page, as base64."""
    chosen: Sequence[Entry] = [
        *index["images"][: choice.images],
        *(
            pack
            for variant in packed(index)[: choice.variants]
            for pack in packs_in(variant, choice)
        ),
    ]
    return sum(-(-e["bytes"] // 3) * 4 + len(e["file"]) + TAG for e in chosen)
