"""Depths stay apart: a study's general settings must not make them alike."""

from collections.abc import Mapping

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


def _layers(variant: Variant) -> int | None:
    return getattr(variant.model, "layers", None)


def _flattened(study: Study, name: str, own: Variant, changed: Variant) -> str | None:
    """Depth may be changed for a variant by its name, and not along with others."""
    named = "layers" in study.overrides.variants.get(name, {})
    if named or _layers(own) == _layers(changed):
        return None
    return (
        f"{name}: overrides give it layers = {_layers(changed)} in place of "
        f"{_layers(own)}, and its depth is what it is there for. {FIX} "
        f"`{name}: {{layers: {_layers(own)}}}`."
    )


def _repeated(name: str, resolved: Mapping[str, Variant]) -> str | None:
    """No two models of a study are the same, one of them called a depth."""
    model = resolved[name].model
    for other, variant in resolved.items():
        if other != name and variant.model == model:
            return (
                f"{name}: overrides make it and {other} the same model. Give {other} "
                f"another depth. {FIX} `{other}: {{layers: {2 * _layers(variant)}}}`."
            )
    return None
