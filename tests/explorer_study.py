"""A small study's attention, packed: models of random weights on two images."""

import base64
import json
import re
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import torch
from conftest import ROOT
from made_up_study import made_up_study

from reattn.attention.arrays import Arrays, save_arrays
from reattn.attention.extract import extract_attention
from reattn.attention.looking import Looker
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.explorer.scales import from_levels
from reattn.explorer.study import pack_variants
from reattn.models.build import build_model
from reattn.report.explorer import with_explorer
from reattn.report.html import make_html

NAME = "small"
SIZE, QUERY = 16, (9, 5)
MEAN, STD = (0.5, 0.4, 0.3), (0.2, 0.25, 0.3)
IMAGES = np.random.default_rng(0).integers(0, 256, (2, 3, SIZE, SIZE), dtype=np.uint8)
NAMES = ("china.jpg", "test image 1 (</script>)")
ENCODER = {"width": 12, "feed_forward": 8, "layers": 2, "heads": 3, "patch_size": 4}
SETTINGS = {
    "learned2d-9h-content": ENCODER,
    "learned2d-9h-content-aligned": ENCODER,
    "learned2d-9h-nocontent": ENCODER,
    "quadratic-9h-anisotropic": ENCODER,
    "ha-learned2d-9h-content": ENCODER,
    "vit": ENCODER | {"stem_width": 4},
    "san-pairwise": {"width": 64, "stages": 2, "blocks": 1},
    "san-patchwise": {"width": 64, "stages": 2, "blocks": 1},
}
TEXT = """---
title: Small
---
# Explorer

::: {#attention-explorer .explorer-place}
On paper, figures stand here.
:::
"""


def small_model(variant: str) -> torch.nn.Module:
    """A model whose random weights are large enough for attention that is peaked."""
    torch.manual_seed(1)
    model = build_model(variant, image_size=SIZE, **SETTINGS[variant])
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1.5)
    return model


@cache
def arrays_of(variant: str, every_query: bool = True) -> Arrays:
    """What the attention stage keeps of a model."""
    meta = {"study": NAME, "variant": variant, "label": variant, "family": "x"}
    return extract_attention(
        small_model(variant),
        images=IMAGES,
        names=NAMES,
        queries_pixels=[QUERY],
        mean=MEAN,
        std=STD,
        meta={**meta, "seed": 3},
        every_query=every_query,
    )


def small_study() -> tuple[Study, dict[str, Variant]]:
    """The study and its variants; ResNet-18 has nothing to show."""
    names = ["resnet18", *SETTINGS]
    return made_up_study(groups=[], variants=names)


def pack(results: Path, names: tuple[str, ...] = tuple(SETTINGS)) -> dict:
    """Save arrays of some variants and pack them; the index."""
    for name in names:
        save_arrays(results / "attention" / f"{name}.npz", arrays_of(name))
    study, variants = small_study()
    return json.loads(pack_variants(NAME, study, variants, results).read_text())


def page_of(results: Path, megabytes: float = 9) -> str:
    """A page with nothing but the explorer."""
    page = make_html(TEXT, ROOT / "report", results)
    return with_explorer(page, results / "explorer", megabytes)


def embedded(page: str) -> dict:
    """The index that a page's script reads."""
    text = re.search(r'id="explorer-index">(.*?)</script>', page)[1]
    return json.loads(text)


def embedded_pack(page: str, file: str) -> bytes:
    """A pack as a page holds it, unfolded."""
    text = re.search(rf'id="explorer-{re.escape(file)}">(.*?)</script>', page)[1]
    return zlib.decompress(base64.b64decode(text))


@cache
def recorded(variant: str, image: int) -> list[np.ndarray]:
    """What a model attends with, (heads, rows, columns, ...) a layer."""
    calls = Looker(small_model(variant), MEAN, STD, 3)(IMAGES[[image]])
    return [call[0].double().numpy() for call in calls]


def weights_of(variant: str, image: int, query: int | None) -> list[np.ndarray]:
    """Recorded weights, (heads, rows, columns) a layer; None: averaged over queries.

    Args:
        variant: Of this study.
        image: Its number.
        query: Number of a pixel of the image, row by row.
    """
    return [_seen(call, query) for call in recorded(variant, image)]


def _seen(call: np.ndarray, query: int | None) -> np.ndarray:
    if query is None:
        return call.mean((1, 2))
    rows, columns = call.shape[1:3]
    row, column = divmod(query, SIZE)
    return call[:, row * rows // SIZE, column * columns // SIZE]


def unfold(content: bytes, entry: dict, levels: int | None) -> list[np.ndarray]:
    """What a pack holds of every query, (heads, rows, columns, ...) a layer."""
    content = zlib.decompress(content)
    shapes, form = entry["shapes"], entry["form"]
    if form == "table":
        return _by_shift(np.frombuffer(content, "<f4"), shapes)
    count = sum(shape[0] for shape in shapes)
    largest = np.frombuffer(content, "<f4", count)
    codes = np.frombuffer(content, np.uint8, offset=4 * count)
    found, map_, code = [], 0, 0
    for heads, rows, columns in shapes:
        keys = (3, 3) if form == "local" else (rows, columns)
        shape = (heads, rows, columns, *keys)
        part = codes[code : code + np.prod(shape)].reshape(shape)
        scale = largest[map_ : map_ + heads].reshape(-1, 1, 1, 1, 1)
        signed = not entry["normalised"]
        found.append(from_levels(scale, part, levels, signed=signed))
        map_, code = map_ + heads, code + part.size
    return found


def _by_shift(scores: np.ndarray, shapes: list) -> list[np.ndarray]:
    """A softmax query by query, over the keys inside of the grid alone."""
    heads, rows, columns = shapes[0]
    tables = scores.astype(float).reshape(
        len(shapes), heads, 2 * rows - 1, 2 * columns - 1
    )
    found = np.empty((len(shapes), heads, rows, columns, rows, columns))
    for row in range(rows):
        for column in range(columns):
            inside = tables[
                ...,
                rows - 1 - row : 2 * rows - 1 - row,
                columns - 1 - column : 2 * columns - 1 - column,
            ]
            powers = np.exp(inside - inside.max((-2, -1), keepdims=True))
            total = powers.sum((-2, -1), keepdims=True)
            found[:, :, row, column] = powers / total
    return list(found)
