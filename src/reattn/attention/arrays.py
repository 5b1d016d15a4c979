"""Attention as arrays in one file: saved by those who ran a model, read by all.

The file is an npz of plain numeric arrays and one text, `meta` (JSON). Nothing
in it is pickled, so that reading it runs no code.

Keys of kind `global`: images (n, H, W, 3) uint8; query_pixels and queries (q, 2),
row and column in the image and in the grid; query_maps (n, layers, heads, q, h, w);
average_maps (n, layers, heads, h, w). With a class token also class_mass (n, layers,
heads, q) and average_class_mass (n, layers, heads); of quadratic models also centers
(layers, heads, 2) and covariances (layers, heads, 2, 2).
Of every query, where that was asked for: shift_scores (layers, heads, 2h - 1, 2w - 1)
if attention depends on the shift alone, else all_maps (n, layers, heads, h, w, h, w) in
half precision, with a class token also all_class_mass (n, layers, heads, h, w).
Keys of kind `local`: images and query_pixels as above; map_sizes (calls, 2); for
every call i queries_<i> (q, 2), query_weights_<i> (n, channels, q, 3, 3) and
average_weights_<i> (n, channels, 3, 3); of every query all_weights_<i> (n, channels,
rows, columns, 3, 3) in half precision.
Kind `none` holds its reason in meta.
"""

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reattn.errors import ReattnError
from reattn.files import written_whole

Arrays = dict[str, np.ndarray]
_UNREADABLE = (
    *(ValueError, TypeError, OSError, EOFError, AttributeError),
    *(zipfile.BadZipFile, zlib.error),
)
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def with_meta(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Arrays:
    """The arrays together with a description of them."""
    return {**arrays, "meta": np.array(json.dumps(meta, sort_keys=True))}


def meta_of(
    arrays: Mapping[str, np.ndarray], source: object = "The arrays"
) -> dict[str, Any]:
    """The description that was saved with arrays.

    Args:
        arrays: Of `load_arrays` or `with_meta`.
        source: What an error should name.

    Raises:
        ReattnError: there is none, or it is not a JSON object.
    """
    try:
        meta = json.loads(str(arrays["meta"]))
    except (KeyError, ValueError):
        meta = None
    if not isinstance(meta, dict) or "kind" not in meta:
        raise ReattnError(
            f"{source}: no attention arrays, since `meta` is not a JSON object with a "
            "`kind`. Extract them again."
        )
    return meta


def save_arrays(path: Path | str, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays whole or not at all; equal arrays give equal bytes.

    Raises:
        ReattnError: an array holds objects, which only pickles could keep.
    """
    objects = [name for name, array in arrays.items() if array.dtype.hasobject]
    if objects:
        raise ReattnError(f"Arrays of objects cannot be saved: {', '.join(objects)}.")
    with (
        written_whole(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(f"{name}.npy", _FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, arrays[name], allow_pickle=False)


def load_arrays(path: Path | str) -> Arrays:
    """Read arrays of `save_arrays`, without unpickling.

    Raises:
        ReattnError: the file is missing, torn, or holds pickled objects.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise ReattnError(f"{path} is missing: extract the attention first.") from None
    except _UNREADABLE as fault:
        raise ReattnError(
            f"{path} is not a file of attention arrays ({fault}). Extract them again."
        ) from None
    meta_of(arrays, path)
    return arrays
