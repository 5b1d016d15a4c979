"""Validation errors, told as sentences with file, key, value and fix."""

import difflib
from collections.abc import Iterable
from typing import Any, get_args

from pydantic import BaseModel, ValidationError


def sentences(error: ValidationError, where: str, model: type[BaseModel]) -> list[str]:
    """One sentence for each fault that pydantic found.

    Args:
        error: What `model.model_validate` raised.
        where: File name that the sentences begin with.
        model: The model that was validated; its keys are offered as fixes.
    """
    by_key: dict[str, list[Any]] = {}
    for fault in error.errors():
        by_key.setdefault(_key(fault), []).append(fault)
    return [_sentence(key, by_key[key], where, model) for key in sorted(by_key)]


def _key(fault: Any) -> str:
    location = [str(part) for part in fault["loc"] if not _is_union_branch(part)]
    return ".".join(location) or "the file"


def _sentence(key: str, faults: list[Any], where: str, model: type[BaseModel]) -> str:
    """What is wrong at one key; a union of types has one fault a type."""
    fault = faults[0]
    if fault["type"] == "extra_forbidden":
        valid = _keys_at(model, fault["loc"][:-1])
        name = str(fault["loc"][-1])
        return f"{where}: {key} is not a known key. {suggestion(name, valid)}"
    if fault["type"] == "missing":
        return f"{where}: {key} is missing. Add it."
    messages = [fault["msg"].removeprefix("Value error, ") for fault in faults]
    first, *others = dict.fromkeys(messages)
    rest = [message[0].lower() + message[1:] for message in others]
    return f"{where}: {key} = {fault['input']!r}: {', or '.join([first, *rest])}."


def suggestion(name: str, valid: Iterable[str]) -> str:
    """The nearest valid name, or all of them."""
    valid = sorted(valid)
    close = difflib.get_close_matches(name, valid, n=1, cutoff=0.7)
    if close:
        return f"Did you mean {close[0]}?"
    return f"Known: {', '.join(valid)}."


def _is_union_branch(part: Any) -> bool:
    """Pydantic adds the names of tried types to the place of a fault."""
    return isinstance(part, str) and (
        part.startswith(("literal[", "constrained-", "function-"))
        or part in {"int", "str", "float"}
    )


def _keys_at(model: type[BaseModel], location: tuple) -> list[str]:
    """The keys that a model knows at a place inside it."""
    for part in location:
        if not isinstance(part, str) or part not in model.model_fields:
            continue
        model = _model_within(model.model_fields[part].annotation, location) or model
    return list(model.model_fields)


def _model_within(annotation: Any, location: tuple) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for member in get_args(annotation):
        found = _model_within(member, location)
        if found and _names_its_family(found, location):
            return found
    return None


def _names_its_family(model: type[BaseModel], location: tuple) -> bool:
    family = model.model_fields.get("family")
    return family is None or any(
        part in location for part in get_args(family.annotation)
    )
