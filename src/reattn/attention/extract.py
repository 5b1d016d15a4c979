"""From a model and images to arrays of attention.

Arrays keep the maps of chosen queries and the average over all queries; on demand,
every query's map too, for the report's explorer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import nn

from reattn.attention.arrays import Arrays, with_meta
from reattn.attention.every_query import gather_every_map, gather_every_weight
from reattn.attention.gathering import (
    gather_gaussians,
    gather_local_weights,
    gather_maps,
)
from reattn.attention.looking import (
    Looker,
    has_attention,
    is_local,
    is_normalised,
    same_attention,
)
from reattn.errors import ReattnError
from reattn.models.recording import Recording

Pixels = Sequence[tuple[int, int]]


def extract_attention(
    model: nn.Module,
    *,
    images: np.ndarray,
    names: Sequence[str],
    queries_pixels: Pixels,
    mean: Sequence[float],
    std: Sequence[float],
    meta: Mapping[str, Any],
    every_query: bool = False,
) -> Arrays:
    """Record where a model looks, in evaluation mode, before any dropout.

    Args:
        model: A module of `build_model`, on any device; left as it was.
        images: uint8 (n, 3, H, W).
        names: A name an image.
        queries_pixels: Row and column in the image of each query.
        mean: Channel means that the model was trained with, in [0, 1].
        std: Channel standard deviations, likewise.
        meta: study, variant, label, family, seed, reduced and anything else that
            figures should tell. kind, reason, layers, heads, image_names,
            normalised and image_independent are added.
        every_query: Also keep the attention of every query.

    Returns:
        Arrays as `reattn.attention.arrays` describes them. A ViT's noise token is
        drawn from a stream with the seed `meta["seed"]`, or 0, for each image
        alike. Only the first image is kept if attention does not depend on it.

    Raises:
        ReattnError: images and names do not match, or a query lies outside.
    """
    _check(images, names, queries_pixels)
    meta = {"reason": None, "reduced": None, **meta}
    if not has_attention(model):
        reason = f"{meta['label']} has no attention: it is convolutional."
        return with_meta({}, {**meta, "kind": "none", "reason": reason})
    look = Looker(model, mean, std, meta.get("seed") or 0)
    first = look(images[:1])
    independent = same_attention(first, look(255 - images[:1]))
    kept = 1 if independent else len(images)
    recordings = [first, *(look(images[[number]]) for number in range(1, kept))]
    pixels = np.asarray(queries_pixels, dtype=np.int64).reshape(-1, 2)
    gather = gather_local_weights if is_local(first) else gather_maps
    arrays = {
        **gather(recordings, pixels, images.shape[2:]),
        **(_every_query(recordings, model) if every_query else {}),
        **gather_gaussians(model),
        "images": np.ascontiguousarray(images[:kept].transpose(0, 2, 3, 1)),
        "query_pixels": pixels,
    }
    found = {
        "kind": "local" if is_local(first) else "global",
        "layers": len(first),
        "heads": max(call.shape[1] for call in first),
        "image_names": list(names[:kept]),
        "normalised": is_normalised(first),
        "image_independent": independent,
    }
    return with_meta(arrays, {**meta, **found})


def _every_query(recordings: Sequence[Recording], model: nn.Module) -> Arrays:
    if is_local(recordings[0]):
        return gather_every_weight(recordings)
    return gather_every_map(recordings, model)


def _check(images: np.ndarray, names: Sequence[str], queries: Pixels) -> None:
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[1] != 3:
        raise ReattnError(
            f"Attention images must be uint8 (n, 3, H, W), not {images.dtype} "
            f"{images.shape}."
        )
    if len(names) != len(images) or not len(images):
        raise ReattnError(f"{len(images)} attention images, but {len(names)} names.")
    height, width = images.shape[2:]
    for row, column in queries:
        if not (0 <= row < height and 0 <= column < width):
            raise ReattnError(
                f"Query pixel ({row}, {column}) lies outside of the {height}x{width} "
                "image; rows and columns count from 0."
            )
