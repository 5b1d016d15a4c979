"""A variant of one's own: a commented file with another variant's settings."""

import re
from pathlib import Path

from reattn.config.commented import commented
from reattn.config.faults import NAMES, suggestion
from reattn.config.loading import load_variants, names_in
from reattn.config.mechanisms import FOLDER, SHOWN, mechanism_path
from reattn.config.models import NAME, EncoderSettings, MechanismSettings
from reattn.config.paths import config_folder
from reattn.config.variants import Variant
from reattn.errors import ConfigError
from reattn.files import write_text

GROUP = "own"
TEMPLATE = FOLDER / "template.py"
TEMPLATE_OPTIONS = {"temperature": 1.0}
SCHEMA = "# yaml-language-server: $schema=../../workflow/schemas/variant.schema.json"


def write_new_variant(
    name: str, like: str, mechanism: str | None = None
) -> dict[str, Path]:
    """Write a variant with another one's settings, and with a module of its own.

    Args:
        name: Its id.
        like: The variant that it is a copy of, and is compared with.
        mechanism: A module to begin, in which it computes its attention; None: it
            computes what the other one does.

    Returns:
        What was written, as it is shown and where it is.

    Raises:
        ConfigError: names that are taken or cannot be used, an unknown variant, or
            one that a mechanism cannot be put into; all of them together.
    """
    known = load_variants()
    module = None if mechanism is None else mechanism_path(mechanism)
    problems = _name_faults(name) + _like_faults(like, known, mechanism)
    problems += _module_faults(mechanism, module)
    if problems:
        raise ConfigError(problems)
    order = 1 + max(variant.order for variant in known.values())
    text = text_of(new_variant(name, like, known[like], order, mechanism), like)
    path = config_folder() / "variants" / f"{name}.yaml"
    written = {f"config/variants/{name}.yaml": path}
    if module:
        write_text(module, TEMPLATE.read_text(encoding="utf-8"))
        written[f"{SHOWN}/{module.name}"] = module
    try:
        write_text(path, text)
    except BaseException:
        if module:
            module.unlink(missing_ok=True)
        raise
    return written


def _name_faults(name: str) -> list[str]:
    if not re.fullmatch(NAME, name):
        return [f"{name!r} cannot be a variant's name: {NAMES}."]
    if name in names_in("variants"):
        return [f"config/variants/{name}.yaml exists. Take another name."]
    return []


def _like_faults(
    like: str, known: dict[str, Variant], mechanism: str | None
) -> list[str]:
    if like not in known:
        return [f"Variant {like!r} does not exist. {suggestion(like, known)}"]
    model = known[like].model
    if mechanism is None or isinstance(model, EncoderSettings):
        return []
    return [
        f"{like} has no encoder that a mechanism could be put into: its family is "
        f"{model.family}. Take one with heads, such as learned2d-9h-content."
    ]


def _module_faults(mechanism: str | None, module: Path | None) -> list[str]:
    if mechanism is None:
        return []
    if not re.fullmatch(NAME, mechanism):
        return [f"{mechanism!r} cannot be a mechanism's name: {NAMES}."]
    if module.exists():
        return [f"{SHOWN}/{module.name} exists. Take another name for the mechanism."]
    return []


def new_variant(
    name: str, like: str, variant: Variant, order: int, mechanism: str | None = None
) -> Variant:
    """A variant of the group `own` with another one's settings.

    Args:
        name: Its id.
        like: The other one's id.
        variant: The other one.
        order: Its place in tables.
        mechanism: What takes the place of the other one's attention, if anything.
    """
    model = variant.model
    if mechanism is not None:
        shared = {key: getattr(model, key) for key in EncoderSettings.model_fields}
        model = MechanismSettings(
            family="mechanism",
            mechanism=mechanism,
            options=TEMPLATE_OPTIONS,
            **shared,
        )
    words = name.replace("-", " ")
    changes = {
        "label": words[0].upper() + words[1:],
        "group": GROUP,
        "order": order,
        "compared_with": like,
        "deviation": None,
        "source": f"own; began with the settings of {like}",
        "model": model,
    }
    return variant.model_copy(update=changes)


def text_of(variant: Variant, like: str) -> str:
    """A variant's file.

    Args:
        variant: The variant.
        like: The id of the one that it has its settings from.
    """
    heading = (
        f"# A variant of one's own; it began with the settings of {like}.",
        "# All families and their settings are explained in config/README.md.",
    )
    return "\n".join([SCHEMA, *heading, *commented(variant)]) + "\n"
