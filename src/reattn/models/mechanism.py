"""An attention of one's own inside the report's encoder.

The attention is the class `Attention` of a module of `reattn.models.mechanisms`. It is
made anew for every block (once, if the encoder is hierarchical) as
`Attention(settings, grid, **options)` and maps features (batch, positions, width) and
keys to features and keys; a hierarchical encoder hands the keys of its first pass to
every later one. To have its probabilities drawn and measured it declares
`recorder = None` and calls `reattn.models.recording.record`.
"""

from importlib import import_module

from torch import nn

from reattn.config.models import MechanismSettings
from reattn.errors import ConfigError
from reattn.models.encoder import EncoderClassifier
from reattn.models.patches import grid_of


def build(
    settings: MechanismSettings, image_size: tuple[int, int], num_classes: int
) -> nn.Module:
    """The model of these settings, for images that their size allows.

    Raises:
        ConfigError: there is no such mechanism, or it refuses the options.
    """
    grid = grid_of(image_size, settings.patch_size)
    attention = _attention(settings.mechanism)

    def make() -> nn.Module:
        try:
            return attention(settings, grid, **settings.options)
        except (TypeError, ValueError) as fault:
            raise ConfigError(
                [f"mechanism {settings.mechanism}, options {settings.options}: {fault}"]
            ) from None

    return EncoderClassifier(settings, make, num_classes)


def _attention(mechanism: str) -> type[nn.Module]:
    name = f"{__package__}.mechanisms.{mechanism.replace('-', '_')}"
    path = f"src/{name.replace('.', '/')}.py"
    try:
        return import_module(name).Attention
    except ModuleNotFoundError as fault:
        if fault.name != name:
            raise
        raise ConfigError(
            [f"mechanism = {mechanism!r}: there is no {path}. Write it."]
        ) from None
    except AttributeError:
        raise ConfigError([f"{path} has no class Attention. Add it."]) from None
