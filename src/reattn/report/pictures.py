"""Pictures of a report as a reader sees it, for the README."""

import io
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PIL import Image, ImageOps
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reattn.config.faults import sentences
from reattn.config.paths import project_root, results_folder, shown
from reattn.config.yaml_files import read_mapping
from reattn.errors import ConfigError, ReattnError
from reattn.files import written_whole
from reattn.report.browsers import started_browser, why_no_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LIST = "docs/pictures/pictures.yaml"
MARGIN = 16  # around a part of the page, in its pixels
COLOURS = 256  # of a picture: text and charts lose nothing, and files are half


class Picture(BaseModel):
    """One picture: a part of the page, or a page of the print."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    part: str | None = Field(
        default=None, description="CSS selector of a part; none: the first screen."
    )
    width: int = Field(default=1180, gt=0, description="Of the window, in pixels.")
    height: int = Field(default=1180, gt=0, description="Of the window, in pixels.")
    most: int | None = Field(
        default=None, gt=0, description="Pixels of a long part's top that are shown."
    )
    scale: float = Field(default=1, gt=0, description="Pixels of the picture a pixel.")
    colours: Literal["light", "dark"] = "light"
    point: str | None = Field(
        default=None, description="CSS selector of what the pointer rests on."
    )
    print_page: int | None = Field(
        default=None, gt=0, description="A page of the PDF, from 1, instead."
    )


def take_pictures(study: str, to: Path | None = None) -> list[Path]:
    """Take every picture of docs/pictures/pictures.yaml of a study's report.

    Args:
        study: The study's name.
        to: A folder; None: results/<study>/pictures.

    Raises:
        ReattnError: the list has faults, the report is not there or lacks a part, or
            no browser or pdftoppm is installed.
    """
    report = results_folder(study) / "report"
    to = to or results_folder(study) / "pictures"
    wanted = _load(project_root() / LIST)
    for name in ("report.html", "report.pdf"):
        if not (report / name).is_file():
            fix = f"python -m reattn report {study}"
            raise ReattnError(f"{shown(report / name)} is missing; make it: {fix}")
    if reason := why_no_browser():
        raise ReattnError(f"No picture can be taken: {reason}.")
    with started_browser() as browser:
        return [
            _save(_taken(browser, report, name, picture), to / f"{name}.png")
            for name, picture in wanted.items()
        ]


def _load(path: Path) -> Mapping[str, Picture]:
    pictures, problems = {}, []
    for name, content in read_mapping(path).items():
        try:
            pictures[str(name)] = Picture.model_validate(content or {})
        except ValidationError as error:
            problems += sentences(error, f"{shown(path)}: {name}", Picture)
    if problems:
        raise ConfigError(problems)
    return pictures


def _taken(browser: "Browser", report: Path, name: str, picture: Picture) -> bytes:
    if picture.print_page:
        return _print_page(report / "report.pdf", picture.print_page, picture.width)
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        device_scale_factor=picture.scale,
        color_scheme=picture.colours,
        reduced_motion="reduce",
    )
    context.set_offline(True)
    page = context.new_page()
    try:
        page.goto((report / "report.html").resolve().as_uri())
        return _shot(page, name, picture)
    finally:
        context.close()


def _shot(page: "Page", name: str, picture: Picture) -> bytes:
    for selector in filter(None, (picture.part, picture.point)):
        if not page.locator(selector).count():
            raise ReattnError(
                f"{LIST}: {name}: the page has no {selector}. Name another part."
            )
    if picture.part is None:
        return page.screenshot()
    part = page.locator(picture.part).first
    part.scroll_into_view_if_needed()
    if picture.point:
        page.locator(picture.point).first.hover()
    page.wait_for_timeout(500)  # images and the explorer appear when they are reached
    return _framed(part.screenshot(), picture)


def _framed(shot: bytes, picture: Picture) -> bytes:
    """A part, or its top, with a margin of the colour that its corner has."""
    with Image.open(io.BytesIO(shot)) as image:
        most = image.height if picture.most is None else picture.most * picture.scale
        height = min(image.height, round(most))
        part = image.convert("RGB").crop((0, 0, image.width, height))
    margin = round(MARGIN * picture.scale)
    framed = ImageOps.expand(part, margin, fill=part.getpixel((0, 0)))
    kept = io.BytesIO()
    framed.save(kept, "PNG")
    return kept.getvalue()


def _print_page(path: Path, number: int, width: int) -> bytes:
    program = shutil.which("pdftoppm")
    if program is None:
        raise ReattnError(
            "No picture of the PDF can be taken: pdftoppm is not on the path. Install "
            "poppler-utils."
        )
    pages = ("-f", str(number), "-l", str(number), "-singlefile")
    size = ("-scale-to-x", str(width), "-scale-to-y", "-1")
    done = subprocess.run([program, "-png", *pages, *size, path], capture_output=True)
    if done.returncode or not done.stdout:
        said = done.stderr.decode(errors="replace").strip() or "nothing was drawn"
        raise ReattnError(f"{shown(path)}: page {number} cannot be drawn: {said}.")
    return done.stdout


def _save(shot: bytes, path: Path) -> Path:
    """Write a picture with few colours, which a browser shows as it was."""
    with Image.open(io.BytesIO(shot)) as image:
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    with written_whole(path) as temporary:
        few.save(temporary, "PNG", optimize=True)
    return path
