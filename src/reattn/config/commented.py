"""Settings as a YAML file in which every key is explained."""

import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from reattn.config.models import Settings

WIDTH = 88
PLAIN = re.compile(r"(?!(true|false|null)$)[a-z][a-z0-9-]*")  # needs no quotes in YAML


def commented(settings: Settings, indent: str = "") -> Iterator[str]:
    """Lines of YAML, defaults included; keys without a value are comments.

    Args:
        settings: Any block of configuration.
        indent: What every line begins with.
    """
    fields = type(settings).model_fields
    names = sorted(fields, key=lambda name: name != "family")  # the family comes first
    for name in names:
        value = getattr(settings, name)
        yield from _comment(_meaning(settings, name, fields[name]), indent)
        if isinstance(value, Settings):
            yield f"{indent}{name}:"
            yield from commented(value, f"{indent}  ")
        elif value is None:
            yield f"{indent}# {name}:"
        else:
            yield f"{indent}{name}: {_written(value)}"


def _meaning(settings: Settings, name: str, field: FieldInfo) -> str:
    meaning = field.description or ""
    if name == "family":  # what it is stands at its class
        meaning = (settings.__doc__ or "").partition("\n")[0]
    options = _alternatives(field.annotation)
    return f"{meaning} One of: {', '.join(options)}." if len(options) > 1 else meaning


def _alternatives(annotation: Any) -> list[str]:
    if annotation is bool:
        return ["true", "false"]
    if get_origin(annotation) is Literal:
        return [str(option) for option in get_args(annotation)]
    return []


def _comment(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"{indent}# ",
        subsequent_indent=f"{indent}# ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _written(value: Any) -> str:
    if isinstance(value, str) and PLAIN.fullmatch(value):
        return value
    if isinstance(value, dict):
        pairs = (f"{_written(key)}: {_written(each)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    return json.dumps(value, ensure_ascii=False)
