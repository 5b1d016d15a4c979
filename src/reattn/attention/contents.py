"""Whether arrays of attention are all there, and of one size."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from reattn.attention.arrays import meta_of
from reattn.errors import ReattnError

Axes = tuple[int | str, ...]

_META = ("study", "variant", "label", "seed")
_SHARED: dict[str, Axes] = {
    "images": ("images", "height", "width", 3),
    "query_pixels": ("queries", 2),
}
_GLOBAL: dict[str, Axes] = {
    "queries": ("queries", 2),
    "query_maps": ("images", "layers", "heads", "queries", "rows", "columns"),
    "average_maps": ("images", "layers", "heads", "rows", "columns"),
}
_TOKEN: dict[str, Axes] = {
    "class_mass": ("images", "layers", "heads", "queries"),
    "average_class_mass": ("images", "layers", "heads"),
}
_EVERY_QUERY: dict[str, Axes] = {
    "all_maps": (*("images", "layers", "heads"), *("rows", "columns") * 2),
    "all_class_mass": ("images", "layers", "heads", "rows", "columns"),
    "shift_scores": ("layers", "heads", "shifts down", "shifts across"),
}
_GAUSSIANS: dict[str, Axes] = {
    "centers": ("layers", "heads", 2),
    "covariances": ("layers", "heads", 2, 2),
}


def checked_meta(
    arrays: Mapping[str, np.ndarray], source: object = "The arrays"
) -> dict[str, Any]:
    """The description of arrays in which nothing that figures need is missing.

    Args:
        arrays: As `reattn.attention.arrays` describes them.
        source: What an error should name.

    Raises:
        ReattnError: an array or a part of `meta` is missing or of another shape.
    """
    meta = meta_of(arrays, source)
    faults = [*_meta_faults(meta)]
    if not faults and meta["kind"] != "none":
        faults = [*_array_faults(arrays, meta)]
    if faults:
        raise ReattnError(
            f"{source}: {', '.join(faults)} missing or unusable. Extract the attention "
            "again: python -m reattn attention STUDY VARIANT"
        )
    return meta


def _meta_faults(meta: Mapping[str, Any]) -> Iterator[str]:
    needed = {"none": ("reason",), "local": ("normalised",), "global": ()}
    if meta["kind"] not in needed:
        yield "kind in meta"
        return
    for key in (*_META, *needed[meta["kind"]]):
        if key not in meta:
            yield f"{key} in meta"
    names = meta.get("image_names")
    named = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if meta["kind"] != "none" and not named:
        yield "image_names in meta"


def _array_faults(
    arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]
) -> Iterator[str]:
    sizes = {"images": len(meta["image_names"])}
    for name, axes in _expected(arrays, meta["kind"]).items():
        if name not in arrays or not _fits(arrays[name], axes, sizes):
            yield name


def _expected(arrays: Mapping[str, np.ndarray], kind: str) -> dict[str, Axes]:
    if kind == "global":
        token = _TOKEN if "class_mass" in arrays else {}
        gaussians = _GAUSSIANS if "centers" in arrays else {}
        every = {name: axes for name, axes in _EVERY_QUERY.items() if name in arrays}
        return {**_SHARED, **_GLOBAL, **token, **gaussians, **every}
    expected: dict[str, Axes] = {**_SHARED, "map_sizes": ("calls", 2)}
    for call in range(len(np.atleast_1d(arrays.get("map_sizes", ())))):
        channels = f"channels {call}"
        expected[f"query_weights_{call}"] = ("images", channels, "queries", 3, 3)
        expected[f"average_weights_{call}"] = ("images", channels, 3, 3)
        if (name := f"all_weights_{call}") in arrays:
            rows, columns = f"rows {call}", f"columns {call}"
            expected[name] = ("images", channels, rows, columns, 3, 3)
    return expected


def _fits(array: np.ndarray, axes: Axes, sizes: dict[str, int]) -> bool:
    """Whether an array has these axes; sizes that are new are noted."""
    if array.ndim != len(axes) or array.dtype.kind not in "biuf":
        return False
    return all(
        size == (axis if isinstance(axis, int) else sizes.setdefault(axis, size))
        for axis, size in zip(axes, array.shape, strict=True)
    )
