"""All attention figures of one variant, from its arrays."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from reattn.attention.contents import checked_meta
from reattn.figures.attention_grid import AttentionGrid, draw_grid
from reattn.figures.catalogue import FigureRecord, write_catalogue
from reattn.figures.gaussians import draw_gaussians
from reattn.figures.headings import Heading
from reattn.figures.local_weights import LocalWeights, colours_of, draw_local_weights
from reattn.figures.style import SEQUENTIAL, styled
from reattn.figures.svg import save_svg
from reattn.figures.wording import Subject, in_whole, provenance

Arrays = Mapping[str, np.ndarray]
Drawn = tuple[FigureRecord, Figure]

_GAUSSIANS = (
    "Number: a head, at its centre. Solid and dashed ellipse: 1 and 2 standard "
    "deviations of its Gaussian, of the scores as computed.",
    "Grey cell: the query. Dashed frame: the map, for a query in its middle. A "
    "centre beyond the panel stands at its edge, in a grey circle.",
)


@dataclass(frozen=True)
class _View:
    """One image, seen from one query or averaged over all.

    Attributes:
        image: Number of the image.
        name: Its name.
        query: Number of the query, or None for the average.
        pixel: Row and column of the query in the image, or None.
    """

    image: int
    name: str
    query: int | None = None
    pixel: tuple[int, int] | None = None

    def of(self, arrays: Arrays, noun: str, axis: int = 0) -> np.ndarray:
        """The query's or the average's array of this image, without other queries.

        Args:
            arrays: Of the variant.
            noun: Rest of the array's name, after query_ or average_.
            axis: Where an image's array has its queries.
        """
        if self.query is None:
            return arrays[f"average_{noun}"][self.image]
        return arrays[f"query_{noun}"][self.image].take(self.query, axis)


def draw_attention_figures(
    arrays: Arrays, folder: Path | str, source: object = "The arrays"
) -> list[dict]:
    """Draw a variant's attention as SVG, and figures.json about it.

    Args:
        arrays: As `reattn.attention.arrays` describes them.
        folder: Where to; one folder a variant.
        source: Where the arrays come from, for errors.

    Returns:
        The entries of figures.json, one a figure: file, kind (query, average,
        gaussians), caption, alt, variant, label, image, query. Without attention
        there is a single entry of kind none, without a file, whose caption is the
        reason.

    Raises:
        ReattnError: arrays are missing or do not fit together.
    """
    meta = checked_meta(arrays, source)
    folder = Path(folder)
    if meta["kind"] == "none":
        reason = FigureRecord(None, "none", meta["reason"], "", *_who(meta))
        return write_catalogue(folder, [reason])
    records = []
    with styled():
        for record, figure in _figures(arrays, meta):
            save_svg(figure, folder / record.file, title=record.alt)
            records.append(record)
    return write_catalogue(folder, records)


def _who(meta: Mapping) -> tuple[str, str]:
    return meta["variant"], meta["label"]


def _figures(arrays: Arrays, meta: Mapping) -> Iterator[Drawn]:
    draw = _grid if meta["kind"] == "global" else _local
    for view in _views(arrays, meta):
        yield draw(arrays, meta, view)
    if "centers" in arrays:
        yield _gaussians(arrays, meta)


def _views(arrays: Arrays, meta: Mapping) -> Iterator[_View]:
    for image, name in enumerate(meta["image_names"]):
        for query, pixel in enumerate(arrays["query_pixels"].tolist()):
            yield _View(image, name, query, tuple(pixel))
        yield _View(image, name)


def _record(
    subject: Subject, number: int, lines: list[str], shape: str
) -> FigureRecord:
    """A figure's entry; images of one name differ in their numbers."""
    kind = "average" if subject.query is None else "query"
    stem = re.sub(r"[^a-z0-9]+", "-", Path(subject.image).stem.lower()).strip("-")
    image = f"{number}-{stem}".strip("-")
    place = "-".join([kind, *(str(n) for n in subject.query or ())])
    return FigureRecord(
        "_".join([subject.meta["variant"], image, place]) + ".svg",
        kind,
        subject.caption(lines),
        subject.alt(shape),
        *_who(subject.meta),
        subject.image,
        None if subject.query is None else list(subject.query),
    )


def _grid(arrays: Arrays, meta: Mapping, view: _View) -> Drawn:
    maps = view.of(arrays, "maps", axis=2)
    numbers, cell = [100 * maps.max(axis=(2, 3))], None
    has_token = "class_mass" in arrays
    if has_token:
        numbers.append(100 * _token_mass(arrays, view))
    if view.query is not None:
        cell = tuple(arrays["queries"][view.query].tolist())
    layers, heads, rows, columns = maps.shape
    subject = Subject(meta, view.name, view.pixel, rows * columns, has_token)
    lines = subject.grid_lines()
    scale = ("0", "each map's own maximum")
    heading = Heading(meta["label"], lines, SEQUENTIAL, scale, meta.get("reduced"))
    grid = AttentionGrid(heading, arrays["images"][view.image], maps, numbers, cell)
    shape = f"{layers} layers by {heads} heads of attention maps"
    scaled = [*lines, "Colour runs from 0 to each map's own maximum."]
    return _record(subject, view.image, scaled, shape), draw_grid(grid)


def _token_mass(arrays: Arrays, view: _View) -> np.ndarray:
    """(layers, heads): the share of attention that the class token takes."""
    if view.query is None:
        return arrays["average_class_mass"][view.image]
    return arrays["class_mass"][view.image][..., view.query]


def _local(arrays: Arrays, meta: Mapping, view: _View) -> Drawn:
    sizes = arrays["map_sizes"].tolist()
    weights = [view.of(arrays, f"weights_{n}", axis=1) for n in range(len(sizes))]
    subject = Subject(meta, view.name, view.pixel)
    lines, softmax = subject.local_lines(), meta["normalised"]
    scale = ("−", "+ each call's largest magnitude; white is 0")
    if softmax:
        scale = ("0", "each call's maximum")
    colours = colours_of(softmax)
    heading = Heading(meta["label"], lines, colours, scale, meta.get("reduced"))
    photograph = arrays["images"][view.image]
    local = LocalWeights(heading, photograph, weights, sizes, softmax, view.pixel)
    shape = f"{len(weights)} attention calls of 3×3 weight tiles"
    return _record(subject, view.image, lines, shape), draw_local_weights(local)


def _gaussians(arrays: Arrays, meta: Mapping) -> Drawn:
    title = f"{meta['label']}: centres and spreads"
    lines = [*_GAUSSIANS, provenance(meta)]
    grid, reduced = arrays["average_maps"].shape[-2:], meta.get("reduced")
    contours = arrays["centers"], arrays["covariances"]
    figure = draw_gaussians(*contours, grid, title, lines, reduced)
    alt = f"A panel a layer with the Gaussian of every head of {meta['label']}."
    caption = in_whole([f"{title}.", *lines], reduced)
    file = f"{meta['variant']}_gaussians.svg"
    return FigureRecord(file, "gaussians", caption, alt, *_who(meta)), figure
