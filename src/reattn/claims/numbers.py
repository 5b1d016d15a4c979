"""Published accuracies with the digits that they were printed with."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from reattn.config.paths import config_folder
from reattn.tables.published import read_published

NO_VARIANT = "no variant of this project is this model"
ORIGINAL = "another training recipe and protocol than those followed here"


@dataclass(frozen=True)
class PublishedNumber:
    """One accuracy that others printed.

    Attributes:
        name: The variant's id, or the name that it was published under.
        text: The accuracy in percent, as printed.
        source: Where it stands.
        status: How sure it is that it belongs to the model.
        apart: Why no variant is compared with it; empty where one is.
    """

    name: str
    text: str
    source: str
    status: str
    apart: str = ""

    @property
    def accuracy(self) -> float:
        """In percent."""
        return float(self.text)

    @property
    def half_digit(self) -> float:
        """Half of one in the last digit: how far rounding may have moved it."""
        return 0.5 * 10.0 ** int(Decimal(self.text).as_tuple().exponent)

    @property
    def is_of_variant(self) -> bool:
        """Whether a variant is compared with it."""
        return not self.apart


def published_numbers(path: Path | None = None) -> list[PublishedNumber]:
    """Every accuracy of config/published.yaml: variants', then the others.

    Args:
        path: The file; None: config/published.yaml.

    Raises:
        ConfigError: the file is missing or broken.
    """
    path = path or config_folder() / "published.yaml"
    read_published(path)  # tells what is wrong with it
    # Numbers as text: 91.00 and 91 are not rounded alike.
    content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    sources = content["sources"]
    listed = [(name, entry, "") for name, entry in content["variants"].items()]
    for part, apart in (("besides", NO_VARIANT), ("original_paper", ORIGINAL)):
        listed += [(entry["name"], entry, apart) for entry in content.get(part, [])]
    return [
        _number(name, entry, sources, apart)
        for name, entry, apart in listed
        if entry.get("accuracy")
    ]


def _number(
    name: str, entry: Mapping[str, Any], sources: Mapping[str, Any], apart: str
) -> PublishedNumber:
    source = sources.get(entry.get("source"), {}).get("where", "not recorded")
    status = entry.get("status", "run name" if entry.get("run") else "not recorded")
    return PublishedNumber(name, entry["accuracy"], source, status, apart)
