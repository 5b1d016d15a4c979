"""Numbers that others published, each with its source."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from reattn.config.faults import sentences, suggestion
from reattn.config.paths import config_folder, shown
from reattn.config.yaml_files import read_yaml
from reattn.errors import ConfigError


@dataclass(frozen=True)
class Published:
    """One published accuracy, or the word that none has a source.

    Attributes:
        accuracy: Percent, by the authors' protocol; None: no source is known.
        source: Where the number stands; None where there is none.
        status: How sure it is that the number belongs to the variant.
        note: What else a reader must know, or None.
    """

    accuracy: float | None
    source: str | None
    status: str
    note: str | None = None

    @property
    def reason(self) -> str:
        """Why there is no number."""
        return self.note or "no source is known for this cell"


class _Source(BaseModel):
    where: str


class _Entry(BaseModel):
    accuracy: Annotated[float, Field(ge=0, le=100, strict=True)] | None = None
    source: str | None = None
    status: str
    note: str | None = None


class _Content(BaseModel):
    """What tables read; the report reads more of the file."""

    sources: dict[str, _Source]
    variants: dict[str, _Entry]


UNKNOWN = Published(None, None, "not published")


def read_published(path: Path | None = None) -> dict[str, Any]:
    """The content of config/published.yaml.

    Raises:
        ConfigError: the file is missing or broken; every fault is named.
    """
    path = path or config_folder() / "published.yaml"
    content = read_yaml(path)
    if problems := _faults(content, shown(path)):
        raise ConfigError(problems)
    return content


def _faults(content: Any, where: str) -> list[str]:
    try:
        checked = _Content.model_validate(content)
    except ValidationError as error:
        return sentences(error, where, _Content)
    return [
        f"{where}: variants.{name}.source: {entry.source!r} is not among the sources. "
        f"{suggestion(entry.source, checked.sources)}"
        for name, entry in checked.variants.items()
        if entry.source and entry.source not in checked.sources
    ]


def published_accuracies(content: dict[str, Any]) -> dict[str, Published]:
    """What was published of each variant, from `read_published`'s content."""
    sources = content["sources"]
    accuracies = {}
    for name, entry in content["variants"].items():
        source = entry.get("source")
        accuracies[name] = Published(
            accuracy=entry.get("accuracy"),
            source=sources[source]["where"] if source else None,
            status=entry["status"],
            note=entry.get("note"),
        )
    return accuracies
