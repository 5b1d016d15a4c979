"""The figures that a study has, as their figures.json files list them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reattn.errors import ReattnError
from reattn.files import read_json

SIGNATURES = {".svg": b"<", ".png": b"\x89PNG", ".jpg": b"\xff\xd8"}

Absent = dict[tuple[str, str | None], str]


@dataclass(frozen=True)
class Figure:
    """One file with what is said of it.

    Attributes:
        path: The file.
        kind: What it shows, such as `query` or `curves`.
        variant: Whose it is, or None.
        image: Name of the image that it shows, or None.
        caption: Its caption, plain text.
        alt: What it shows, for those who do not see it.
    """

    path: Path
    kind: str
    variant: str | None
    image: str | None
    caption: str
    alt: str


def read_figures(
    folder: Path, drop_missing: bool = False
) -> tuple[list[Figure], Absent]:
    """All figures below a folder, and why some are absent.

    An entry of kind `none` names no file; its caption is the reason. Reasons are
    kept by the folder below `folder` (attention, curves) and the variant.

    Args:
        folder: results/<study>/figures.
        drop_missing: Whether a figure may be listed whose file is gone.

    Raises:
        ReattnError: a list is broken, or a figure that it names cannot be read.
    """
    figures, absent = [], {}
    for path in sorted(folder.rglob("figures.json")):
        content = read_json(path)
        entries = content.get("figures") if isinstance(content, dict) else content
        if not isinstance(entries, list) or not all(
            isinstance(entry, dict) for entry in entries
        ):
            raise ReattnError(f"{path} holds no list of figures; draw them again.")
        for entry in entries:
            if entry.get("kind") == "none":
                place = path.relative_to(folder).parts[0]
                absent[place, entry.get("variant")] = entry["caption"]
            elif not drop_missing or not _is_gone(path, entry):
                figures.append(_figure(path, entry))
    return figures, absent


def _is_gone(listed_in: Path, entry: dict[str, Any]) -> bool:
    return "file" in entry and not (listed_in.parent / entry["file"]).exists()


def _figure(listed_in: Path, entry: dict[str, Any]) -> Figure:
    missing = {"file", "kind", "caption"} - set(entry)
    if missing:
        raise ReattnError(f"{listed_in}: a figure has no {', '.join(sorted(missing))}.")
    path = listed_in.parent / entry["file"]
    _check(path, listed_in)
    return Figure(
        path=path,
        kind=entry["kind"],
        variant=entry.get("variant"),
        image=None if entry.get("image") is None else str(entry["image"]),
        caption=entry["caption"],
        alt=entry.get("alt") or entry["caption"],
    )


def _check(path: Path, listed_in: Path) -> None:
    if not path.is_file():
        raise ReattnError(
            f"{path} is missing, but {listed_in} names it. Draw it again."
        )
    start = path.read_bytes()[:64].lstrip(b"\xef\xbb\xbf \n\r\t")
    signature = SIGNATURES.get(path.suffix)
    if signature is None or not start.startswith(signature):
        raise ReattnError(
            f"{path} is no readable SVG, PNG or JPEG file; draw it again."
        )


def select(
    figures: Sequence[Figure], kind: str, variant: str | None = None
) -> list[Figure]:
    """The figures of a kind, of one variant if one is named."""
    return [
        figure
        for figure in figures
        if figure.kind == kind and (variant is None or figure.variant == variant)
    ]
