"""From a variant to the module that computes it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from reattn.config.models import Settings
from reattn.config.sizes import size_faults
from reattn.config.variants import Variant
from reattn.errors import ConfigError

if TYPE_CHECKING:
    from torch import nn


def build_model(
    variant: str | Variant,
    *,
    image_size: int | tuple[int, int] = 32,
    num_classes: int = 10,
    **overrides: Any,
) -> "nn.Module":
    """The module of a variant, freshly initialised from torch's global stream.

    Args:
        variant: An id such as `learned2d-9h-content`, or a Variant.
        image_size: Side of a square image, or (height, width), in pixels.
        num_classes: Classes to tell apart.
        **overrides: Settings of `variant.model` to replace, e.g. `layers=3`.

    Returns:
        A module from float images (batch, 3, height, width) to (batch,
        num_classes): log-probabilities from the families learned2d, quadratic
        and resnet, logits from vit, san and ha-san, as in the authors' code.

    Raises:
        ConfigError: an unknown variant or override, or a size that cannot be.
    """
    if isinstance(variant, str):
        from reattn.config import load_variant

        variant = load_variant(variant)
    settings = override_settings(variant.model, overrides)
    size, classes = _height_and_width(image_size), _count(num_classes)
    if faults := size_faults(settings, size):
        raise ConfigError(faults)
    family = import_module(f"{__package__}.{settings.family.replace('-', '_')}")
    model = family.build(settings, size, classes)
    # What `attention_probabilities` checks images against.
    model.settings, model.image_size = settings, size
    return model


def override_settings(settings: Settings, overrides: dict[str, Any]) -> Settings:
    """A validated copy of a model's settings with some of them replaced.

    Raises:
        ConfigError: an override is unknown or its value is refused.
    """
    valid = [name for name in type(settings).model_fields if name != "family"]
    unknown = [name for name in overrides if name not in valid]
    if unknown:
        raise ConfigError(
            [
                f"{settings.family} has no setting {name!r}; valid: {', '.join(valid)}"
                for name in unknown
            ]
        )
    try:
        return type(settings).model_validate(settings.model_dump() | overrides)
    except ValidationError as fault:
        raise ConfigError(
            [
                f"{settings.family} setting {'.'.join(map(str, error['loc']))} = "
                f"{error['input']!r}: {error['msg']}"
                for error in fault.errors()
            ]
        ) from None


def _height_and_width(image_size: int | tuple[int, int]) -> tuple[int, int]:
    pair = isinstance(image_size, tuple | list)
    sides = image_size if pair else (image_size, image_size)
    if len(sides) != 2 or not all(_is_count(side) for side in sides):
        raise ConfigError(
            [
                f"image_size = {image_size!r}: give one side or (height, width), "
                "in whole pixels"
            ]
        )
    return tuple(sides)


def _count(num_classes: int) -> int:
    if not _is_count(num_classes):
        raise ConfigError(
            [f"num_classes = {num_classes!r}: give a whole number from 1 upwards"]
        )
    return num_classes


def _is_count(value: object) -> bool:
    """Whether a whole number from 1 upwards; True counts as 1 only in Python."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
