"""How many parameters a model has, from its settings alone.

A linear map from a to b features has ab weights and, with a bias, b more; a
normalisation has two numbers a feature. Section 2 of the report's own code
(NishantPrabhu/Self-Attention-and-Convolutions@57f8244) fixes which have biases.
"""

from reattn.config.models import (
    EncoderSettings,
    HierarchicalSANSettings,
    Learned2DSettings,
    MechanismSettings,
    ModelSettings,
    ProjectionsSettings,
    QuadraticSettings,
    ResNetSettings,
    SANSettings,
    ViTSettings,
)
from reattn.costs.projections import attention_parameters, with_matched_width
from reattn.costs.shapes import (
    CHANNELS,
    attention_unit,
    grid_of,
    resnet_convolutions,
    san_stages,
)


def parameters_by_formula(
    settings: ModelSettings, image_size: int, num_classes: int
) -> int:
    """The number of trainable parameters of the model that `settings` describe.

    Args:
        settings: The `model` block of a variant.
        image_size: Side of the images, in pixels.
        num_classes: Classes to tell apart.
    """
    if isinstance(settings, EncoderSettings):
        return _encoder(settings, image_size, num_classes)
    if isinstance(settings, SANSettings):
        return _san(settings, image_size, num_classes)
    if isinstance(settings, HierarchicalSANSettings):
        return _hierarchical_san(settings, num_classes)
    return _resnet(settings, image_size, num_classes)


def _linear(inputs: int, outputs: int, bias: bool = True) -> int:
    return inputs * outputs + (outputs if bias else 0)


def _encoder(settings: EncoderSettings, image_size: int, num_classes: int) -> int:
    grid = grid_of(settings, image_size)
    settings = with_matched_width(settings, grid)
    width, hidden = settings.width, settings.feed_forward
    feed_forward = _linear(width, hidden) + _linear(hidden, width)
    normalisations = 2 * 2 * width
    block = _attention(settings, grid) + feed_forward + normalisations
    blocks = 1 if settings.hierarchical else settings.layers
    entrance = _entrance(settings, grid)
    return entrance + blocks * block + _linear(width, num_classes)


def _entrance(settings: EncoderSettings, grid: int) -> int:
    pixels = settings.patch_size**2
    if not isinstance(settings, ViTSettings):
        return _linear(CHANNELS * pixels, settings.width)
    stem, features = settings.stem_width, settings.stem_width * pixels
    convolutions = 9 * CHANNELS * stem + 4 * 9 * stem**2 + 5 * 2 * stem
    positions = (grid**2 + 1) * settings.width
    token = features if settings.class_token == "learned" else 0
    return convolutions + _linear(features, settings.width) + positions + token


def _attention(settings: EncoderSettings, grid: int) -> int:
    width, joined = settings.width, settings.heads * settings.width
    output = _linear(joined, width)
    project = _linear(width, joined, bias=False)
    # What a mechanism of one's own has is not known: as many as queries, keys, values.
    if isinstance(settings, ViTSettings | MechanismSettings):
        return 3 * project + output
    if isinstance(settings, ProjectionsSettings):
        return attention_parameters(settings, grid)
    if isinstance(settings, QuadraticSettings):
        return settings.heads * (2 + (1 if settings.isotropic else 4)) + output
    return _scores(settings, grid) + output + settings.value_projection * project


def _scores(settings: Learned2DSettings, grid: int) -> int:
    offsets = 2 * (2 * grid - 1)
    if not settings.content:
        return offsets * settings.width + 2 * _linear(settings.width, settings.heads)
    queries_and_keys = 2 * settings.width * settings.heads * settings.width
    return offsets * (settings.width // 2) + queries_and_keys


def _bottleneck(operation: str, channels: int) -> int:
    unit = attention_unit(operation, channels)
    maps = channels * (2 * unit.relation + unit.middle)
    weights = (
        2 * unit.compared
        + unit.compared * unit.hidden
        + 2 * unit.hidden
        + _linear(unit.hidden, unit.produced)
    )
    position = _linear(2, 2) if operation == "pairwise" else 0
    outside = 2 * channels + 2 * unit.middle + _linear(unit.middle, channels)
    return maps + weights + position + outside


def _san(settings: SANSettings, image_size: int, num_classes: int) -> int:
    total, entering = (CHANNELS + 2) * settings.width, settings.width
    for stage in san_stages(settings, image_size):
        total += (entering + 2) * stage.channels
        total += settings.blocks * _bottleneck(settings.operation, stage.channels)
        entering = stage.channels
    return total + _linear(entering, num_classes)


def _hierarchical_san(settings: HierarchicalSANSettings, num_classes: int) -> int:
    width = settings.width
    passes = (CHANNELS + 2) * width + settings.layers * (width + 2) * width
    shared = 2 * _bottleneck(settings.operation, width)
    return passes + shared + _linear(width, num_classes)


def _resnet(settings: ResNetSettings, image_size: int, num_classes: int) -> int:
    convolutions = resnet_convolutions(settings.width, image_size)
    weights = sum(
        each.kernel**2 * each.inputs * each.outputs + 2 * each.outputs
        for each in convolutions
    )
    return weights + _linear(convolutions[-1].outputs, num_classes)
