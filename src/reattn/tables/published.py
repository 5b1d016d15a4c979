"""Numbers that others published, each with its source."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from reattn.config.paths import config_folder
from reattn.errors import ReattnError


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


UNKNOWN = Published(None, None, "not published")


def read_published(path: Path | None = None) -> dict[str, Any]:
    """The content of config/published.yaml.

    Raises:
        ReattnError: the file is missing or no mapping.
    """
    path = path or config_folder() / "published.yaml"
    if not path.is_file():
        raise ReattnError(f"{path} is missing; restore it from the repository.")
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as fault:
        raise ReattnError(f"{path} is not valid YAML: {fault}") from None
    if not isinstance(content, dict) or "variants" not in content:
        raise ReattnError(f"{path} has no `variants:`; restore it.")
    return content


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
