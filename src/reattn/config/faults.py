"""Validation errors, told as sentences with file, key, value and fix."""

import difflib
import math
import reprlib
from collections.abc import Iterable
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

MANY = 10  # names that a message lists
NAMES = "names consist of lowercase letters, digits and single hyphens"


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
    if location[:1] == ["model"] and len(location) > 2:
        del location[1]  # The family, by which pydantic chose among the models.
    if fault["type"].startswith("union_tag"):
        location.append(fault["ctx"]["discriminator"].strip("'"))
    return ".".join(location) or "the file"


def _sentence(key: str, faults: list[Any], where: str, model: type[BaseModel]) -> str:
    """What is wrong at one key; a union of types has one fault a type."""
    fault = faults[0]
    kind, value = fault["type"], fault["input"]
    if kind == "extra_forbidden":
        valid = _keys_at(model, fault["loc"][:-1])
        name = str(fault["loc"][-1])
        return f"{where}: {key} is not a known key. {suggestion(name, valid)}"
    if kind in ("missing", "union_tag_not_found"):
        return f"{where}: {key} is missing. Add it."
    if kind == "union_tag_invalid":
        known = fault["ctx"]["expected_tags"].replace("'", "").split(", ")
        tag = fault["ctx"]["tag"]
        return f"{where}: {key} = {tag!r} does not exist. {suggestion(tag, known)}"
    told = ", or ".join(_messages(faults))
    if kind == "value_error" and isinstance(value, dict | BaseModel):
        return f"{where}: {told}."
    return f"{where}: {key} = {shown_value(value)}: {told}."


def _messages(faults: list[Any]) -> list[str]:
    """What pydantic says of each fault, every sentence once."""
    said = [
        NAMES if fault["type"] == "string_pattern_mismatch" else fault["msg"]
        for fault in faults
    ]
    first, *others = dict.fromkeys(text.removeprefix("Value error, ") for text in said)
    return [first, *(text[0].lower() + text[1:] for text in others)]


class _Shortened(reprlib.Repr):
    """Values as YAML writes them, cut where they are long."""

    def repr_NoneType(self, value: None, level: int) -> str:  # noqa: N802
        return "null"

    def repr_bool(self, value: bool, level: int) -> str:
        return str(value).lower()

    def repr_float(self, value: float, level: int) -> str:
        return repr(value) if math.isfinite(value) else f".{value}".replace(".-", "-.")


_SHORTENED = _Shortened()
_SHORTENED.maxlevel, _SHORTENED.maxlist = 2, 6
_SHORTENED.maxstring = _SHORTENED.maxother = 80


def shown_value(value: object) -> str:
    """A value in a sentence: short, whatever it is."""
    return _SHORTENED.repr(value)


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that a misspelt one is likely to mean, if there is one."""
    close = difflib.get_close_matches(name, [*valid], n=1, cutoff=0.7)
    return close[0] if close else None


def suggestion(name: str, valid: Iterable[str]) -> str:
    """The nearest valid name, or all of them, or the first of many."""
    valid = sorted(valid)
    if close := nearest(name, valid):
        return f"Did you mean {close}?"
    more = f" and {len(valid) - MANY} more" if len(valid) > MANY else ""
    return f"Known: {', '.join(valid[:MANY])}{more}."


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
        if found and _is_chosen(found, location):
            return found
    return None


def _is_chosen(model: type[BaseModel], location: tuple) -> bool:
    """Whether a place names the model, where a key chooses among several."""
    chosen_by = model.model_fields.get("family") or model.model_fields.get("kind")
    return chosen_by is None or any(
        part in location for part in get_args(chosen_by.annotation)
    )
