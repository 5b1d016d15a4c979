"""What a study trains: its variants with its overrides applied and checked."""

from typing import Any

from pydantic import ValidationError

from reattn.config.attention import attention_faults
from reattn.config.depths import depth_faults
from reattn.config.faults import sentences, suggestion
from reattn.config.loading import load_study, load_variants
from reattn.config.mechanisms import mechanism_faults
from reattn.config.models import FAMILIES
from reattn.config.sizes import size_faults, training_faults
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.errors import ConfigError


def resolve_variants(study: Study, name: str) -> dict[str, Variant]:
    """The study's variants, in table order, with its overrides applied.

    Args:
        study: The study.
        name: Its name, for messages.

    Raises:
        ConfigError: unknown variants or overrides, values that do not validate,
            and sizes that do not fit the images; all of them together.
    """
    known = load_variants()
    where = f"config/studies/{name}.yaml"
    problems = _unknown_names(study, known, where) + attention_faults(study, where)
    resolved = {}
    for variant_id, variant in known.items():
        changed, faults = _with_overrides(study, variant_id, variant, where)
        problems += faults
        if variant.group in study.groups or variant_id in study.variants:
            resolved[variant_id] = changed
            problems += _unfit(study, variant_id, changed, where)
    problems += depth_faults(study, known, resolved, where)
    if problems:
        raise ConfigError(problems)
    return resolved


def load_resolved(name: str) -> tuple[Study, dict[str, Variant]]:
    """A study and its variants, checked against one another.

    Raises:
        ConfigError: the faults of the study and of all variants together.
    """
    study, problems = None, []
    try:
        study = load_study(name)
    except ConfigError as fault:
        problems += fault.problems
    try:
        load_variants()
    except ConfigError as fault:
        problems += fault.problems
    if study is None or problems:
        raise ConfigError(problems)
    return study, resolve_variants(study, name)


def _unknown_names(study: Study, known: dict[str, Variant], where: str) -> list[str]:
    problems = [
        f"{where}: variants: {name!r} does not exist. {suggestion(name, known)}"
        for name in study.variants
        if name not in known
    ]
    for kind, names, valid in (
        ("families", study.overrides.families, FAMILIES),
        ("variants", study.overrides.variants, known),
    ):
        problems += [
            f"{where}: overrides.{kind}: {name!r} does not exist. "
            f"{suggestion(name, valid)}"
            for name in names
            if name not in valid
        ]
    settings = {key for variant in known.values() for key in _keys(variant)}
    problems += [
        f"{where}: overrides.all: {key} is a setting of no model. "
        f"{suggestion(key, settings)}"
        for key in study.overrides.all
        if key not in settings
    ]
    return problems


def _keys(variant: Variant) -> set[str]:
    return set(type(variant.model).model_fields) - {"family"}


def overrides_of(study: Study, variant_id: str, variant: Variant) -> dict[str, Any]:
    """The settings that a study changes in one variant."""
    general = {k: v for k, v in study.overrides.all.items() if k in _keys(variant)}
    family = study.overrides.families.get(variant.model.family, {})
    return {**general, **family, **study.overrides.variants.get(variant_id, {})}


def _with_overrides(
    study: Study, variant_id: str, variant: Variant, where: str
) -> tuple[Variant, list[str]]:
    changes = overrides_of(study, variant_id, variant)
    if "family" in changes:
        reason = f"overrides of {variant_id}: family cannot be changed. Remove it."
        return variant, [f"{where}: {reason}"]
    content = variant.model_dump()
    content["model"].update(changes)
    try:
        changed = Variant.model_validate(content)
    except ValidationError as error:
        return variant, sentences(error, f"{where}: overrides of {variant_id}", Variant)
    return changed, []


def _unfit(study: Study, variant_id: str, variant: Variant, where: str) -> list[str]:
    size = study.data.image_size
    faults = size_faults(variant.model, (size, size))
    faults += training_faults(variant.model, (size, size))
    told = [f"{fault}." for fault in faults] + mechanism_faults(variant.model)
    return [f"{where}: {variant_id}: {fault}" for fault in told]
