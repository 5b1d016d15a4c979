"""Packs the attention of a study's variants for the report's explorer."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reattn.attention.arrays import load_arrays
from reattn.attention.contents import checked_meta
from reattn.config.explored import explored_pairs, is_explored
from reattn.config.paths import results_folder
from reattn.config.resolution import load_resolved
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.explorer.packing import form_of, packed_image, packs_of
from reattn.files import sha256_of, write_json, written_whole

INDEX = "index.json"
Entry = dict[str, Any]


def pack_explorer(study: str) -> Path:
    """Write results/<study>/explorer: packs, and an index that names them all.

    Raises:
        ConfigError: the study has faults.
        ReattnError: arrays are torn or do not fit together.
    """
    settings, variants = load_resolved(study)
    return pack_variants(study, settings, variants, results_folder(study))


def pack_variants(
    name: str, study: Study, variants: Mapping[str, Variant], results: Path
) -> Path:
    """Pack what results/attention holds of the variants that the explorer shows.

    Args:
        name: The study's name.
        study: The study.
        variants: Its variants.
        results: Its folder.

    Returns:
        The index.

    Raises:
        ReattnError: arrays are torn or do not fit together.
    """
    folder = results / "explorer"
    _forget(folder)
    images: dict[str, Entry] = {}
    entries = [
        _entry(name, variant_id, variant, results, images)
        for variant_id, variant in variants.items()
        if is_explored(variant)
    ]
    index = {
        "study": name,
        "reduced": study.reduced,
        "images": list(images.values()),
        "variants": entries,
        "pairs": _pairs(variants, entries),
    }
    write_json(folder / INDEX, index)
    return folder / INDEX


def _forget(folder: Path) -> None:
    """Remove packs of before; the index first, which names them."""
    (folder / INDEX).unlink(missing_ok=True)
    for path in folder.glob("*.bin"):
        path.unlink()


def _entry(
    study: str,
    name: str,
    variant: Variant,
    results: Path,
    images: dict[str, Entry],
) -> Entry:
    """A variant in the index: its packs, or the reason that there are none."""
    entry = {"id": name, "label": variant.label}
    path = results / "attention" / f"{name}.npz"
    again = f"python -m reattn attention {study} {name}"
    if not path.exists():
        return {**entry, "reason": f"its arrays are not here; `{again}` makes them"}
    arrays = load_arrays(path)
    meta = checked_meta(arrays, path)
    if meta["kind"] == "none":
        return {**entry, "reason": meta["reason"]}
    form = form_of(arrays, meta)
    if form is None:
        reason = f"its arrays hold chosen queries alone; `{again}` makes them anew"
        return {**entry, "reason": reason}
    folder = results / "explorer"
    _keep_images(arrays, meta, images, folder)
    return {
        **entry,
        "form": form,
        "seed": meta["seed"],
        "normalised": meta["normalised"],
        "shapes": _shapes(arrays, form),
        "token": "all_class_mass" in arrays,
        "packs": [*_written(name, arrays, meta, folder)],
    }


def _shapes(arrays: Mapping[str, np.ndarray], form: str) -> list[list[int]]:
    """Heads, rows and columns of every layer, or channels, rows, columns of a call."""
    if form == "local":
        sizes = arrays["map_sizes"].tolist()
        return [
            [arrays[f"all_weights_{call}"].shape[1], *size]
            for call, size in enumerate(sizes)
        ]
    _, layers, heads, rows, columns = arrays["average_maps"].shape
    return [[heads, rows, columns]] * layers


def _keep_images(
    arrays: Mapping[str, np.ndarray],
    meta: Mapping[str, Any],
    images: dict[str, Entry],
    folder: Path,
) -> None:
    """Write the pictures that no variant before has brought along."""
    for number, name in enumerate(meta["image_names"]):
        if str(number) in images:
            continue
        picture = arrays["images"][number]
        file = f"image-{number}.bin"
        images[str(number)] = {
            "name": name,
            "size": list(picture.shape[:2]),
            **_saved(folder / file, packed_image(picture)),
        }


def _written(
    name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], folder: Path
) -> Iterator[Entry]:
    for pack in packs_of(arrays, meta):
        parts = [name, pack.image, pack.levels]
        file = "_".join(str(part) for part in parts if part is not None) + ".bin"
        yield {
            "image": pack.image,
            "levels": pack.levels,
            "fault": pack.fault,
            **_saved(folder / file, pack.content),
        }


def _saved(path: Path, content: bytes) -> Entry:
    with written_whole(path) as temporary:
        temporary.write_bytes(content)
    return {"file": path.name, "bytes": len(content), "sha256": sha256_of(path)}


def _pairs(variants: Mapping[str, Variant], entries: list[Entry]) -> list[Entry]:
    there = {entry["id"] for entry in entries if "packs" in entry}
    return [
        {"kind": kind, "first": first, "second": second}
        for kind, first, second in explored_pairs(variants)
        if {first, second} <= there
    ]
