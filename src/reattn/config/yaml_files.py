"""YAML files, read safely and without YAML's surprises."""

import re
from pathlib import Path
from typing import Any

import yaml

from reattn.config.paths import shown
from reattn.errors import ConfigError


class _Loader(yaml.SafeLoader):
    """Safe loader in which 1e-3 is a number and a repeated key is an error."""


# PyYAML follows YAML 1.1, which wants a dot and a sign: it reads 1e-3 as text.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$"),
    list("-+0123456789"),
)


def _mapping_without_repeats(loader: _Loader, node: yaml.MappingNode) -> dict:
    keys = [loader.construct_object(key) for key, _ in node.value]
    repeated = sorted({str(key) for key in keys if keys.count(key) > 1})
    if repeated:
        raise yaml.constructor.ConstructorError(
            None, None, f"repeated key {', '.join(repeated)}", node.start_mark
        )
    return yaml.SafeLoader.construct_mapping(loader, node, deep=True)


_Loader.add_constructor(
    yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping_without_repeats
)


def read_mapping(path: Path) -> dict[str, Any]:
    """Read a YAML file whose top level is a mapping.

    Raises:
        ConfigError: the file is missing, is not YAML, repeats a key, or holds
            something else than a mapping.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise ConfigError([f"{shown(path)} is missing."]) from None
    except UnicodeDecodeError:
        raise ConfigError([f"{shown(path)} is not UTF-8 text."]) from None
    except yaml.YAMLError as fault:
        problem = " ".join(str(fault).split())
        raise ConfigError([f"{shown(path)} is not valid YAML: {problem}."]) from None
    if not isinstance(content, dict):
        raise ConfigError(
            [f"{shown(path)} holds {content!r}; it should hold `key: value` lines."]
        )
    return content
