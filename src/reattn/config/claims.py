"""Claims: sentences of the papers, and what must be measured to judge them."""

import re
from collections import Counter
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from reattn.config.faults import sentences
from reattn.config.models import Count, Identifier, Settings
from reattn.config.paths import config_folder, shown
from reattn.config.predicates import Predicate
from reattn.config.yaml_files import read_mapping
from reattn.errors import ConfigError

# The place of a fault: the claim's number, and the kind by which pydantic chose.
_PLACE = re.compile(r"\bclaims\.(\d+)(\.predicate\.[a-z-]+(?=\.))?")


class LeastEvidence(Settings):
    """The least that may judge a claim."""

    scale: Literal["any", "full"] = Field(
        description="full: a reduced study does not judge it."
    )
    seeds: Count = Field(
        default=1, description="Runs that ended well, of every variant concerned."
    )


class Claim(Settings):
    """A statement and what it is held to."""

    id: Identifier = Field(description="Its name in tables.")
    statement: str = Field(min_length=1, description="In plain words.")
    source: str = Field(min_length=1, description="Who states it, and where.")
    predicate: Predicate
    evidence: LeastEvidence
    note: str | None = Field(
        default=None, description="Why it is held to this threshold."
    )


class Claims(Settings):
    """The file config/claims.yaml."""

    claims: list[Claim] = Field(description="In the order of the report's table.")


def load_claims(path: Path | None = None) -> list[Claim]:
    """Every claim, in the order of the file.

    Args:
        path: The file; None: config/claims.yaml.

    Raises:
        ConfigError: the file is missing or has faults; all of them together.
    """
    path = path or config_folder() / "claims.yaml"
    content = read_mapping(path)
    names = _names(content.get("claims"))
    problems = [
        f"{shown(path)}: {count} claims are named {name}. Rename all but one."
        for name, count in Counter(filter(None, names)).items()
        if count > 1
    ]
    model: type[BaseModel] = Claims
    try:
        claims = model.model_validate(content).claims
    except ValidationError as error:
        told = sentences(error, shown(path), model)
        problems = [*(_named(sentence, names) for sentence in told), *problems]
    if problems:
        raise ConfigError(problems)
    return claims


def _names(claims: Any) -> list[str | None]:
    """What the claims are called, whatever stands there."""
    entries = claims if isinstance(claims, list) else []
    found = [entry.get("id") if isinstance(entry, dict) else None for entry in entries]
    return [name if isinstance(name, str) else None for name in found]


def _named(sentence: str, names: list[str | None]) -> str:
    """A sentence in which a claim is called by its name."""

    def place(match: re.Match) -> str:
        number = int(match[1])
        name = names[number] if number < len(names) else None
        return f"claims.{name or number}{'.predicate' if match[2] else ''}"

    return _PLACE.sub(place, sentence, count=1)
