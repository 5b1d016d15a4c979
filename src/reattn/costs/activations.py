"""What a training step keeps for its backward pass, from the settings alone.

Numbers, not bytes. The terms follow what PyTorch saves for each operation of the
shipped form: the input of a linear map, a convolution or a normalisation, and the
result of a ReLU or a softmax.
"""

from math import isqrt

from reattn.config.models import (
    EncoderSettings,
    HierarchicalSANSettings,
    ModelSettings,
    ResNetSettings,
    SANSettings,
)
from reattn.costs.encoder_activations import encoder_activations
from reattn.costs.shapes import (
    CHANNELS,
    NEIGHBOURS,
    Saved,
    attention_unit,
    resnet_convolutions,
    san_stages,
)

# Below it models.weighted_sums keeps all neighbourhoods, at the batch of SAN's recipe.
SHORTEST_ROW = 4


def saved_activations(settings: ModelSettings, image_size: int) -> Saved:
    """Numbers kept from the forward pass for the backward pass.

    Args:
        settings: The `model` block of a variant.
        image_size: Side of the images, in pixels.
    """
    if isinstance(settings, EncoderSettings):
        return encoder_activations(settings, image_size)
    if isinstance(settings, SANSettings):
        return _san(settings, image_size)
    if isinstance(settings, HierarchicalSANSettings):
        return _hierarchical_san(settings, image_size)
    return Saved(0, _resnet(settings, image_size))


def _resnet(settings: ResNetSettings, image_size: int) -> int:
    """The image; of every convolution its result and what follows it, activated.

    A shortcut's convolution (kernel 1) is followed by no activation of its own.
    """
    maps = sum(
        each.outputs * each.pixels * (2 if each.kernel == 3 else 1)
        for each in resnet_convolutions(settings.width, image_size)
    )
    return CHANNELS * image_size**2 + maps


def _san(settings: SANSettings, image_size: int) -> Saved:
    """The stem; per stage the pooled map, the last norm, and the bottlenecks.

    Pooling also keeps 8-byte indices, which count as two numbers.
    """
    once, each = 0, _stem(settings.width, image_size**2)
    entering = settings.width
    for stage in san_stages(settings, image_size):
        features = stage.channels * stage.pixels
        unit = _attention(settings.operation, stage.channels, stage.pixels)
        each += 3 * entering * stage.pixels + 2 * features
        each += settings.blocks * (2 * features + unit.each)
        once += settings.blocks * unit.once
        entering = stage.channels
    return Saved(once, each)


def _hierarchical_san(settings: HierarchicalSANSettings, image_size: int) -> Saved:
    """The stem; per pass a norm and two bottlenecks, which read what enters them.

    The official form reads it normalised, and so keeps both.
    """
    pixels = image_size**2
    features = settings.width * pixels
    reads = 2 if settings.pre_activation == "official" else 1
    unit = _attention(settings.operation, settings.width, pixels)
    one_pass = 2 * features + 2 * (reads * features + unit.each)
    each = _stem(settings.width, pixels) + settings.layers * one_pass
    return Saved(2 * settings.layers * unit.once, each)


def _stem(width: int, pixels: int) -> int:
    return (CHANNELS + 2 * width) * pixels


def _attention(operation: str, channels: int, pixels: int) -> Saved:
    """Once the joined map of queries, keys and values; for each image the rest.

    The rest: their results, keys and padded values, the weights, and the gathered
    values. Compared and hidden features are kept normalised and activated.
    """
    unit = attention_unit(operation, channels)
    pairwise = operation == "pairwise"
    applied = pixels * (NEIGHBOURS if pairwise else 1)
    joined = 2 * unit.relation + unit.middle
    places = unit.relation + 2 if pairwise else 0
    weights = 2 * (unit.compared + unit.hidden) * applied
    chosen = unit.weights * NEIGHBOURS * pixels
    around = unit.middle * _values_read(isqrt(pixels))
    each = (joined + places + 2 * unit.middle) * pixels + weights + chosen + around
    return Saved(joined * channels, each)


def _values_read(side: int) -> int:
    """Pixels of the padded map, or, where rows are short, all neighbourhoods."""
    return (side + 2) ** 2 if side >= SHORTEST_ROW else NEIGHBOURS * side**2
