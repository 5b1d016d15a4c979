"""What a folder of figures holds: figures.json, with captions and descriptions."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reattn.files import write_json

CATALOGUE = "figures.json"


@dataclass(frozen=True)
class FigureRecord:
    """One figure, or the reason that there is none.

    Attributes:
        file: Name within the folder; None if there is no figure.
        kind: query, average, gaussians, attention-metrics, diagram, curves, overview,
            models, comparison, published, constructed, none.
        caption: What a reader needs to understand it.
        alt: What there is to see, for those who cannot.
        variant: Whose figure, if of one variant.
        label: That variant's name in tables.
        image: Name of the image shown, if any.
        query: Row and column of the query pixel, if any.
    """

    file: str | None
    kind: str
    caption: str
    alt: str
    variant: str | None = None
    label: str | None = None
    image: str | None = None
    query: list[int] | None = None


def write_catalogue(folder: Path | str, records: list[FigureRecord]) -> list[dict]:
    """Write figures.json and return what stands in it."""
    entries: list[dict[str, Any]] = [asdict(record) for record in records]
    write_json(Path(folder) / CATALOGUE, entries)
    return entries
