"""Reads variants and studies; reports every fault of a file together."""

import re
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ValidationError

from reattn.config.faults import NAMES, sentences, suggestion
from reattn.config.models import NAME
from reattn.config.paths import config_folder, shown
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.config.yaml_files import read_mapping
from reattn.errors import ConfigError


def _load(path: Path, model: type[BaseModel]) -> BaseModel:
    content = read_mapping(path)
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ConfigError(sentences(error, shown(path), model)) from None


def names_in(folder: str) -> list[str]:
    """The names of the YAML files in a folder of `config`."""
    return sorted(path.stem for path in (config_folder() / folder).glob("*.yaml"))


def _existing(folder: str, name: str, kind: str) -> Path:
    known, name = names_in(folder), str(name)  # `--config study=5` gives a number
    if name in known and not re.fullmatch(NAME, name):
        path = f"config/{folder}/{name}.yaml"
        raise ConfigError([f"{path} cannot be used: {NAMES}. Rename it."])
    if name not in known:
        raise ConfigError(
            [f"{kind} {name!r} does not exist. {suggestion(name, known)}"]
        )
    return config_folder() / folder / f"{name}.yaml"


def load_variant(variant_id: str) -> Variant:
    """Read config/variants/<variant_id>.yaml.

    Raises:
        ConfigError: there is no such variant, or its file has faults.
    """
    return _load_variant(_existing("variants", variant_id, "Variant"))


@cache
def _load_variant(path: Path) -> Variant:
    return _load(path, Variant)


def load_variants() -> dict[str, Variant]:
    """Every variant by its id, in the order of the tables.

    Raises:
        ConfigError: the faults of all files together.
    """
    variants, problems = {}, []
    for name in names_in("variants"):
        try:
            variants[name] = load_variant(name)
        except ConfigError as fault:
            problems += fault.problems
    problems += [
        f"config/variants/{name}.yaml: {key} = {other!r} is no variant. "
        f"{suggestion(other, variants)}"
        for name, variant in variants.items()
        for key in ("ordinary", "compared_with")
        if (other := getattr(variant, key)) and other not in names_in("variants")
    ]
    if problems:
        raise ConfigError(problems)
    return dict(sorted(variants.items(), key=lambda item: (item[1].order, item[0])))


def load_study(name: str) -> Study:
    """Read config/studies/<name>.yaml.

    Raises:
        ConfigError: there is no such study, or its file has faults.
    """
    return _load(_existing("studies", name, "Study"), Study)
