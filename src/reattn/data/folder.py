"""Images in `train/<class>/*` and `test/<class>/*`, as a tree or an archive of it."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from reattn.data.archives import list_members, read_members
from reattn.data.images import CHANNEL_RULE, SIZE_RULE, decode_image
from reattn.data.source import SourceImages
from reattn.errors import DataError
from reattn.files import sha256_of

SPLITS = ("train", "test")


def read_image_folder(path: Path, size: int) -> SourceImages:
    """List a tree or an archive of one, and read its images when asked for them.

    Classes are the folders' names in alphabetical order. The trees may lie inside
    one enclosing folder. Within train and test the images are ordered by the
    SHA-256 of their name: the same for a tree and any archive of it, and with
    the classes mixed, since batch statistics in the authors' evaluation
    would otherwise come from one class.

    Args:
        path: A folder, or a .tar, .tar.gz, .tar.xz, .tar.bz2 or .zip archive.
        size: Side of the images in pixels.

    Raises:
        DataError: a fault of the archive or the tree; while reading, of an image.
    """
    members = list_members(path)
    base = _base_folder(path, members)
    classes = _classes(path, base, members)
    files = {split: _ordered(base, split, members) for split in SPLITS}
    names = [name for split in SPLITS for name in files[split]]
    labels = [classes.index(_class_of(name, base)) for name in names]
    treated: Counter[str] = Counter()
    return SourceImages(
        classes=classes,
        labels=np.array(labels, dtype=np.int64),
        train_count=len(files["train"]),
        images=_images(path, names, size, treated),
        order="by the SHA-256 of each name within train and test",
        treatment=f"{SIZE_RULE}; {CHANNEL_RULE}",
        treated=treated,
        archive_checksum=None if path.is_dir() else f"sha256:{sha256_of(path)}",
    )


def _base_folder(path: Path, members: list[str]) -> PurePosixPath:
    """Where train/ lies: at the top or inside one folder."""
    parts = [PurePosixPath(name).parts for name in members]
    if any(part[0] == SPLITS[0] for part in parts):
        return PurePosixPath()
    bases = {part[0] for part in parts if part[1:2] == SPLITS[:1]}
    if len(bases) != 1:
        raise DataError(
            f"{path} must hold train/<class>/ and test/<class>/, at its top or inside "
            f"one folder; {'several' if bases else 'no'} train folders were found."
        )
    return PurePosixPath(bases.pop())


def _prefix(folder: PurePosixPath) -> str:
    return "" if folder == PurePosixPath() else f"{folder}/"


def _classes(path: Path, base: PurePosixPath, members: list[str]) -> tuple[str, ...]:
    """Class names, the same for train and test, none of them empty."""
    found: dict[str, set[str]] = {split: set() for split in SPLITS}
    filled: dict[str, set[str]] = {split: set() for split in SPLITS}
    for name in members:
        split, *inside = PurePosixPath(name).parts[len(base.parts) :] or ("",)
        if split not in SPLITS or not inside:
            continue
        found[split].add(inside[0])
        if name.endswith("/"):
            continue
        if len(inside) == 1:
            raise DataError(f"{path}: {name} lies in no class folder. Remove it.")
        filled[split].add(inside[0])
    _check_agreement(path, found)
    for split in SPLITS:
        if empty := sorted(found[split] - filled[split]):
            raise DataError(
                f"{path}: no images in {split}/{empty[0]}. Fill or remove the folder."
            )
    if len(found["train"]) == 1:
        raise DataError(
            f"{path}: there is one class alone, {found['train'].pop()}. Add a second."
        )
    return tuple(sorted(found["train"]))


def _check_agreement(path: Path, found: dict[str, set[str]]) -> None:
    train, test = found["train"], found["test"]
    if train == test and train:
        return
    missing = [f"test/{name}" for name in sorted(train - test)]
    missing += [f"train/{name}" for name in sorted(test - train)]
    listed = ", ".join(missing[:5]) or "any class folder"
    raise DataError(
        f"{path}: train and test must have the same class folders; missing: {listed}."
    )


def _class_of(name: str, base: PurePosixPath) -> str:
    return PurePosixPath(name).parts[len(base.parts) + 1]


def _ordered(base: PurePosixPath, split: str, members: list[str]) -> list[str]:
    prefix = f"{_prefix(base)}{split}/"
    names = [n for n in members if n.startswith(prefix) and not n.endswith("/")]
    skipped = len(_prefix(base))
    return sorted(names, key=lambda n: hashlib.sha256(n[skipped:].encode()).digest())


def _images(
    path: Path, names: list[str], size: int, treated: Counter[str]
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    positions = {name: index for index, name in enumerate(names)}
    for name, content in read_members(path, positions):
        image, rules = decode_image(content, size, f"{path}: {name}")
        treated.update(rules)
        yield positions[name], image
