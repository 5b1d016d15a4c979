"""YAML files, read safely and without YAML's surprises."""

import re
from pathlib import Path
from typing import Any

import yaml

from reattn.config.paths import shown
from reattn.errors import ConfigError


class _Loader(yaml.SafeLoader):
    """Safe loader of YAML 1.2's scalars, in which a repeated key is an error."""


# PyYAML follows YAML 1.1: there 1e-3 is text, `off` is false, 010 is eight, 1:30 is
# ninety, and 2020-01-01 is a date. Here they are a number and four texts.
_SCALARS = {
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?(0|[1-9][0-9_]*)", "-+0123456789"),
    "float": (
        r"[-+]?(\.[0-9]+|(0|[1-9][0-9_]*)(\.[0-9_]*)?)([eE][-+]?[0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
}
_KEPT = ("tag:yaml.org,2002:null", "tag:yaml.org,2002:merge")
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag in _KEPT]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _name, (_pattern, _first) in _SCALARS.items():
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_name}", re.compile(rf"^(?:{_pattern})$"), list(_first)
    )

_KINDS = {list: "a list", str: "text"}


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


def read_yaml(path: Path) -> Any:
    """Read a YAML file, whatever it holds.

    Raises:
        ConfigError: the file is missing or unreadable, is not YAML, or repeats a key.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        problem = "is missing"
    except OSError as fault:
        problem = f"cannot be read: {fault.strerror}"
    except UnicodeDecodeError:
        problem = "is not UTF-8 text. Save it as UTF-8"
    except yaml.YAMLError as fault:
        problem = f"is not valid YAML: {_told(fault)}"
    except RecursionError:
        problem = "is not usable YAML: its brackets are nested too deeply"
    except ValueError as fault:
        # A number of thousands of digits, or a tag such as !!int before a word.
        problem = f"is not usable YAML: {str(fault).partition(';')[0]}"
    raise ConfigError([f"{shown(path)} {problem}."])


def read_mapping(path: Path) -> dict[str, Any]:
    """Read a YAML file whose top level is a mapping.

    Raises:
        ConfigError: as `read_yaml`, or the file holds something else.
    """
    content = read_yaml(path)
    if isinstance(content, dict):
        return content
    kind = "nothing" if content is None else _KINDS.get(type(content), "a single value")
    raise ConfigError(
        [f"{shown(path)} holds {kind}; it should hold `key: value` lines."]
    )


def _told(fault: yaml.YAMLError) -> str:
    """What is wrong and where, without the excerpt that PyYAML draws."""
    mark = getattr(fault, "problem_mark", None)
    if mark is None:
        return " ".join(str(fault).replace('in "<unicode string>", ', "at ").split())
    problem = fault.problem or fault.context
    advice = ". Use spaces, not tabs" if r"\t" in problem else ""
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}{advice}"
