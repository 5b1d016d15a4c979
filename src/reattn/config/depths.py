"""Depths stay apart: a study's general settings must not make them alike."""

from collections.abc import Mapping
from typing import Any

from reattn.config.studies import Study
from reattn.config.variants import Variant

GROUP = "depth"
FIX = "Set it under overrides.variants, for example"


def depth_faults(
    study: Study,
    known: Mapping[str, Variant],
    resolved: Mapping[str, Variant],
    where: str,
) -> list[str]:
    """Overrides that take away what the variants of the group `depth` vary.

    Args:
        study: The study.
        known: All variants as their files say.
        resolved: The study's, with its overrides applied.
        where: The study's file, for messages.
    """
    deep = [name for name, variant in resolved.items() if variant.group == GROUP]
    faults = [_flattened(study, name, known[name], resolved[name]) for name in deep]
    if not any(faults):
        faults = [_repeated(name, resolved) for name in deep]
    return [f"{where}: {fault}" for fault in faults if fault]


def layers_of(variant: Variant) -> int | None:
    """A variant's layers; None: its family has stages, or a fixed depth."""
    return getattr(variant.model, "layers", None)


def but_for_layers(variant: Variant) -> dict[str, Any]:
    """Settings of a variant's model: equal for models that differ in depth alone."""
    return variant.model.model_dump(exclude={"layers"})


def _flattened(study: Study, name: str, own: Variant, changed: Variant) -> str | None:
    """Depth may be changed for a variant by its name, and not along with others."""
    named = "layers" in study.overrides.variants.get(name, {})
    if named or layers_of(own) == layers_of(changed):
        return None
    return (
        f"{name}: overrides give it layers = {layers_of(changed)} in place of "
        f"{layers_of(own)}, and its depth is what it is there for. {FIX} "
        f"`{name}: {{layers: {layers_of(own)}}}`."
    )


def _repeated(name: str, resolved: Mapping[str, Variant]) -> str | None:
    """No two models of a study are the same, one of them called a depth."""
    model = resolved[name].model
    for other, variant in resolved.items():
        if other != name and variant.model == model:
            return (
                f"{name}: overrides make it and {other} the same model. Give {other} "
                f"another depth. {FIX} `{other}: {{layers: {2 * layers_of(variant)}}}`."
            )
    return None
