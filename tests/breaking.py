"""Ways to break a project: each returns a function that breaks the one it is given.

The project has the study `tiny`, finished; `folder`, prepared from pictures/; and
`fresh` (an image folder), `cifar` and `untouched` (digits), of which nothing is made.
"""

import io
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from conftest import TINY
from PIL import Image

Break = Callable[[Path], None]
STUDY = "config/studies/tiny.yaml"
VIT = "config/variants/vit.yaml"
RUN = "results/tiny/runs/vit/seed0"


@dataclass(frozen=True)
class Bad:
    """One malformed input.

    Attributes:
        name: Its name in the list of tests.
        command: A verb of reattn with its arguments, or snakemake with its; {project}
            is the project's folder, {url} a web server on this machine.
        words: What the message says: file, value, fix.
        breaks: What is done to the project first.
        environment: Variables that are set.
    """

    name: str
    command: str
    words: tuple[str, ...]
    breaks: Break = lambda project: None
    environment: Mapping[str, str] = field(default_factory=dict)


def both(*breaks: Break) -> Break:
    """Several things are broken."""

    def apply(project: Path) -> None:
        for step in breaks:
            step(project)

    return apply


def file(name: str, content: str | bytes) -> Break:
    """A file holds something else, or is there where there was none."""

    def apply(project: Path) -> None:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return apply


def study(**changes: Any) -> Break:
    """Blocks of the study tiny are replaced; None removes one."""
    content = {**TINY, **changes}
    kept = {key: value for key, value in content.items() if value is not None}
    return file(STUDY, yaml.safe_dump(kept))


def block(name: str, **changes: Any) -> Break:
    """Keys of one block of the study tiny are replaced."""
    return study(**{name: {**TINY[name], **changes}})


def line(name: str, old: str, new: str) -> Break:
    """One piece of a text file is replaced."""

    def apply(project: Path) -> None:
        text = (project / name).read_text(encoding="utf-8")
        assert old in text, f"{name} has no {old!r}"
        (project / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return apply


def training(text: str) -> Break:
    """The study's number of epochs is written in another way."""
    return line(STUDY, "epochs: 2", text)


def added(name: str, text: str) -> Break:
    """A text file goes on after its end."""

    def apply(project: Path) -> None:
        with (project / name).open("a", encoding="utf-8") as opened:
            opened.write(text)

    return apply


def torn(name: str, kept: float = 0.5) -> Break:
    """A file ends early."""

    def apply(project: Path) -> None:
        content = (project / name).read_bytes()
        (project / name).write_bytes(content[: int(len(content) * kept)])

    return apply


def gone(name: str) -> Break:
    """A file or a folder is not there."""

    def apply(project: Path) -> None:
        path = project / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return apply


def folder(name: str) -> Break:
    """A folder stands in the place of a file."""

    def apply(project: Path) -> None:
        (project / name).unlink(missing_ok=True)
        (project / name).mkdir(parents=True)

    return apply


def moved(name: str, to: str) -> Break:
    """A file has another name."""
    return lambda project: (project / name).rename(project / to)


def link(name: str, target: str) -> Break:
    """A symbolic link stands in the place of a file."""

    def apply(project: Path) -> None:
        path = project / name
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    return apply


def pipe(name: str) -> Break:
    """A named pipe, whose reader would wait for ever."""
    return lambda project: os.mkfifo(project / name)


# ------------------------------------------------------------------------- images


def picture(format: str = "PNG", mode: str = "RGB", **options: Any) -> bytes:
    """A picture of 16x16 pixels that is not all alike."""
    image = Image.linear_gradient("L").resize((16, 16)).convert("RGB").convert(mode)
    return encoded(image, format, **options)


def encoded(image: Image.Image, format: str = "PNG", **options: Any) -> bytes:
    """A picture as the bytes of a file."""
    buffer = io.BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()


def bomb(side: int = 20_000) -> bytes:
    """A small PNG that says that it is very large."""
    import struct
    import zlib

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 999)), (b"IEND", b""))
    chunks = [
        struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def in_tree(name: str, content: bytes) -> Break:
    """A file of the folder of pictures."""
    return file(f"pictures/{name}", content)


# ----------------------------------------------------------------------- archives


def packed(name: str, add: Callable[[Any], None] | None = None) -> Break:
    """The folder of pictures as an archive, with something added."""

    def apply(project: Path) -> None:
        if name.endswith(".zip"):
            with zipfile.ZipFile(project / name, "w", zipfile.ZIP_DEFLATED) as archive:
                for path in sorted((project / "pictures").rglob("*")):
                    archive.write(path, path.relative_to(project / "pictures"))
                if add:
                    add(archive)
            return
        mode = f"w:{name.rpartition('.tar')[2].removeprefix('.')}"
        with tarfile.open(project / name, mode) as archive:
            archive.add(project / "pictures", ".")
            if add:
                add(archive)

    return apply


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> Callable:
    """Adds an empty member of a kind to a tar archive."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return lambda archive: archive.addfile(info)


def many(count: int) -> Callable:
    """Adds many empty members to a zip archive."""

    def add(archive: zipfile.ZipFile) -> None:
        for number in range(count):
            archive.writestr(f"train/a/{number:06}.png", b"")

    return add


def zeros(name: str, size: int) -> Callable:
    """Adds a member of zeros, which compress to nothing, to a zip archive."""

    def add(archive: zipfile.ZipFile) -> None:
        with archive.open(name, "w", force_zip64=True) as opened:
            for _ in range(size >> 20):
                opened.write(bytes(1 << 20))

    return add


# -------------------------------------------------------------------- checkpoints


class Trap:
    """An object whose unpickling writes a file named EXECUTED."""

    def __init__(self, project: Path):
        self.target = str(project / "EXECUTED")

    def __reduce__(self) -> tuple:
        return (open, (self.target, "w"))


def trapped(name: str) -> Break:
    """A file of torch.save that would run code."""
    return lambda project: torch.save({"model": Trap(project)}, project / name)


def weights(change: Callable[[dict], Any], name: str = f"{RUN}/model.pt") -> Break:
    """What a file of torch.save holds is changed."""

    def apply(project: Path) -> None:
        content = torch.load(project / name, weights_only=True)
        changed = change(content)
        torch.save(content if changed is None else changed, project / name)

    return apply


def from_a_card(name: str) -> Break:
    """What a file of torch.save holds was on a GPU when it was saved."""

    def apply(project: Path) -> None:
        content = torch.load(project / name, weights_only=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.serialization, "location_tag", lambda data: "cuda:0")
            torch.save(content, project / name)

    return apply


def first(content: dict) -> str:
    """The name of the first weight of a run's model."""
    return next(iter(content["model"]))


def authors(change: Callable[[dict], Any] | None = None, variant: str = "vit") -> Break:
    """A checkpoint in the layout of the authors' code, best_model.ckpt."""

    def apply(project: Path) -> None:
        from reattn.config.runs import find_run
        from reattn.models.build import build_model
        from reattn.models.checkpoints import authors_state

        run = find_run("tiny", variant, 0)
        state = authors_state(build_model(run.variant, image_size=16))
        changed = change(state) if change else None
        torch.save(state if changed is None else changed, project / "best_model.ckpt")

    return apply
