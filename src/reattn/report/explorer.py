"""The attention explorer's data in the page: what fits, and what is left out."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reattn.errors import ReattnError
from reattn.explorer.choosing import Choice, choose, packed, packs_in, size_of
from reattn.figures.credits import credit
from reattn.files import read_json

INDEX = "index.json"
INDEX_TAG = '<script type="application/json" id="explorer-index">'
PLACE = 'id="attention-explorer"'
_PLACE = re.compile(rf"<div\s+{PLACE}.*?</div>", re.DOTALL)
_END = "</body>"
_NEEDED = ("study", "images", "variants", "pairs")
Index = Mapping[str, Any]


def has_packs(folder: Path) -> bool:
    """Whether there is anything to explore.

    Args:
        folder: results/<study>/explorer.

    Raises:
        ReattnError: its index is torn.
    """
    return (folder / INDEX).exists() and bool(packed(read_index(folder)))


def with_explorer(page: str, folder: Path, megabytes: float) -> str:
    """A page with as much of the explorer's data as its limit leaves room for.

    Where no model fits, a sentence stands in the explorer's place instead.

    Args:
        page: The page without it; one without the explorer's place stays as it is.
        folder: results/<study>/explorer.
        megabytes: The limit of the whole page, in millions of bytes.

    Raises:
        ReattnError: the index or a pack is torn or missing.
    """
    if PLACE not in page or not has_packs(folder):
        return page
    index = read_index(folder)
    room = 1e6 * megabytes - len(page.encode())

    def fits(choice: Choice) -> bool:
        tag = _index_tag(index, choice, megabytes)
        return len(tag.encode()) + 1 + size_of(index, choice) <= room

    choice = choose(index, fits)
    if not choice.variants:
        return _PLACE.sub(lambda _: _no_room(index["study"], page, megabytes), page)
    tags = [_index_tag(index, choice, megabytes), *_pack_tags(index, choice, folder)]
    before, after = page.rsplit(_END, 1)
    return "\n".join([before, *tags, _END + after])


def _no_room(study: str, page: str, megabytes: float) -> str:
    """Why there is no tool, in its place, and what to do for one."""
    study, taken = html.escape(study), len(page.encode()) / 1e6
    return (
        f'<div class="absent"><p>Nothing to explore in this copy: the page may take '
        f"{megabytes:g} MB, its text and figures take {taken:.1f}, which leaves "
        "too little for the maps of one model. More room is given by "
        f"<code>page_megabytes</code> under <code>report</code> in "
        f"<code>config/studies/{study}.yaml</code>; then "
        f"<code>snakemake --cores all --config study={study}</code> builds the page "
        "with them.</p></div>"
    )


def read_index(folder: Path) -> Index:
    """The index of packs.

    Raises:
        ReattnError: it is torn.
    """
    index = read_json(folder / INDEX)
    if isinstance(index, dict) and all(key in index for key in _NEEDED):
        return index
    raise ReattnError(f"{folder / INDEX} is no index of packs. Delete it; pack again.")


def _index_tag(index: Index, choice: Choice, megabytes: float) -> str:
    """What the script reads first, in a form that no markup can end."""
    text = json.dumps(_contents(index, choice, megabytes), ensure_ascii=False)
    safe = text.replace("&", r"\u0026").replace("<", r"\u003c")
    return f"{INDEX_TAG}{safe}</script>"


def _contents(index: Index, choice: Choice, megabytes: float) -> dict[str, Any]:
    there = packed(index)
    shown, left_out = there[: choice.variants], there[choice.variants :]
    names = {entry["id"] for entry in shown}
    return {
        "study": index["study"],
        "reduced": index.get("reduced"),
        "images": [
            {
                **_part(image, "name", "size", "file"),
                "credit": " ".join(credit(image["name"])),
            }
            for image in index["images"][: choice.images]
        ],
        "variants": [
            {
                **_part(entry, "id", "label", "form", "seed", "normalised"),
                **_part(entry, "shapes", "token"),
                "packs": [
                    _part(pack, "image", "levels", "fault", "file")
                    for pack in packs_in(entry, choice)
                ],
            }
            for entry in shown
        ],
        "pairs": [p for p in index["pairs"] if {p["first"], p["second"]} <= names],
        "absent": [
            _part(entry, "label", "reason")
            for entry in index["variants"]
            if "packs" not in entry
        ],
        "omitted": {
            "megabytes": megabytes,
            "images": [image["name"] for image in index["images"][choice.images :]],
            "variants": [entry["label"] for entry in left_out],
        },
    }


def _part(entry: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: entry[key] for key in keys}


def _pack_tags(index: Index, choice: Choice, folder: Path) -> Iterator[str]:
    yield from (_tag(image, folder) for image in index["images"][: choice.images])
    for variant in packed(index)[: choice.variants]:
        yield from (_tag(pack, folder) for pack in packs_in(variant, choice))


def _tag(entry: Mapping[str, Any], folder: Path) -> str:
    path = folder / entry["file"]
    content = path.read_bytes() if path.exists() else b""
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise ReattnError(
            f"{path} is missing or not what {folder / INDEX} says. Pack again: "
            f"python -m reattn pack-explorer {folder.parent.name}"
        )
    name = html.escape(f"explorer-{entry['file']}")
    text = base64.b64encode(content).decode()
    return f'<script type="text/plain" id="{name}">{text}</script>'
