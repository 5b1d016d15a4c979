"""Arrays of one variant as compressed bytes, in forms that a page can unfold.

Every pack is one zlib stream. Unfolded, its parts follow one another, little-endian:

    table   float32 scores (layers, heads, 2h - 1, 2w - 1): content-free, for any image
    maps    float32 largest weights (layers, heads); levels (layers, heads, h, w, h, w);
            with a class token also its share (layers, heads, h, w), 255 being all
    local   float32 largest magnitudes, call by call (channels); then levels, call by
            call (channels, rows, columns, 3, 3)
    image   bytes (height, width, 3)
"""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reattn.explorer.scales import (
    FOR_ALL_IMAGES,
    FOR_THE_FIRST,
    in_levels,
    largest_fault,
    table_fault,
)

Arrays = Mapping[str, np.ndarray]
_COMPRESSION = 9


@dataclass(frozen=True)
class Pack:
    """Compressed bytes and what they hold.

    Attributes:
        content: A zlib stream.
        image: Number of the image; None: the same for every image.
        levels: The highest level; None: not in levels.
        fault: How far a weight may lie from the recorded one: of maps and local
            weights as a share of the largest of its map, of a table relatively.
    """

    content: bytes
    image: int | None
    levels: int | None
    fault: float


def form_of(arrays: Arrays, meta: Mapping[str, Any]) -> str | None:
    """Whether arrays are packed as table, maps or local; None: they hold too little."""
    if meta["kind"] == "global":
        forms = {"shift_scores": "table", "all_maps": "maps"}
        return next((form for name, form in forms.items() if name in arrays), None)
    if meta["kind"] == "local":
        calls = range(len(arrays["map_sizes"]))
        return "local" if all(f"all_weights_{n}" in arrays for n in calls) else None
    return None


def packs_of(arrays: Arrays, meta: Mapping[str, Any]) -> Iterator[Pack]:
    """Everything that a page may choose from: every image, fine and coarse."""
    form = form_of(arrays, meta)
    if form == "table":
        scores = arrays["shift_scores"].astype("<f4")
        yield Pack(_compressed(scores), None, None, table_fault(scores))
        return
    signed = not meta["normalised"]
    independent = meta.get("image_independent", False)
    for levels, image in _depths(len(meta["image_names"])):
        if form == "local":
            parts = _local(arrays, image, levels, signed)
        else:
            parts = _maps(arrays, image, levels)
        fault = largest_fault(levels, signed=signed)
        place = None if independent else image
        yield Pack(_compressed(*parts), place, levels, fault)


def _depths(images: int) -> Iterator[tuple[int, int]]:
    """Levels and images that are packed: the coarse levels for the first alone."""
    for levels in FOR_ALL_IMAGES:
        yield from ((levels, image) for image in range(images))
    yield from ((levels, 0) for levels in FOR_THE_FIRST)


def packed_image(image: np.ndarray) -> bytes:
    """A picture uint8 (height, width, 3)."""
    return _compressed(image)


def _maps(arrays: Arrays, image: int, levels: int) -> list[np.ndarray]:
    largest, codes = in_levels(arrays["all_maps"][image], (2, 3, 4, 5), levels)
    parts = [largest.astype("<f4"), codes]
    if "all_class_mass" in arrays:
        share = arrays["all_class_mass"][image].astype(np.float32)
        parts.append(np.rint(255 * share).astype(np.uint8))
    return parts


def _local(arrays: Arrays, image: int, levels: int, signed: bool) -> list[np.ndarray]:
    calls = [
        in_levels(
            arrays[f"all_weights_{number}"][image], (1, 2, 3, 4), levels, signed=signed
        )
        for number in range(len(arrays["map_sizes"]))
    ]
    return [
        *(largest.astype("<f4") for largest, _ in calls),
        *(codes for _, codes in calls),
    ]


def _compressed(*parts: np.ndarray) -> bytes:
    return zlib.compress(b"".join(part.tobytes() for part in parts), _COMPRESSION)
