"""Operations of a model by hand formula, from its settings alone.

An independent check of what the counter in `flops` sees. Only matrix products and
convolutions count, at 2 operations a multiply-accumulate.
"""

from reattn.config.models import (
    EncoderSettings,
    HierarchicalSANSettings,
    ModelSettings,
    ResNetSettings,
    SANSettings,
)
from reattn.costs.encoder_formulas import encoder_multiply_accumulates
from reattn.costs.shapes import (
    CHANNELS,
    NEIGHBOURS,
    attention_unit,
    resnet_convolutions,
    san_stages,
)

Terms = dict[str, int]


def flops_by_formula(settings: ModelSettings, image_size: int, num_classes: int) -> int:
    """Operations of the inference of one image, in the plain form.

    FLOPs = 2 * (the sum of the terms of `multiply_accumulates`).

    Args:
        settings: The `model` block of a variant.
        image_size: Side of the image, in pixels.
        num_classes: Classes to tell apart.
    """
    return 2 * sum(multiply_accumulates(settings, image_size, num_classes).values())


def multiply_accumulates(
    settings: ModelSettings, image_size: int, num_classes: int
) -> Terms:
    """Multiply-accumulates of one image, by the part of the model they occur in."""
    if isinstance(settings, EncoderSettings):
        return encoder_multiply_accumulates(settings, image_size, num_classes)
    if isinstance(settings, SANSettings):
        return _san(settings, image_size, num_classes)
    if isinstance(settings, HierarchicalSANSettings):
        return _hierarchical_san(settings, image_size, num_classes)
    return _resnet(settings, image_size, num_classes)


def _resnet(settings: ResNetSettings, image_size: int, num_classes: int) -> Terms:
    """Sum over convolutions of k^2 C_in C_out P, and C K for the classifier.

    P pixels of the map made, kernels of side k, K classes.
    """
    layers = resnet_convolutions(settings.width, image_size)
    return {
        "convolutions": sum(
            each.kernel**2 * each.inputs * each.outputs * each.pixels for each in layers
        ),
        "classifier": layers[-1].outputs * num_classes,
    }


def _san(settings: SANSettings, image_size: int, num_classes: int) -> Terms:
    """3 C_1 S^2 + sum over stages [C_before C P + blocks (U + K + E)] + C K.

    S the image's side, P = pixels of the stage's map; U, K, E as in `_bottleneck`.
    """
    terms = {"stem": CHANNELS * settings.width * image_size**2, "widen": 0}
    entering = settings.width
    for stage in san_stages(settings, image_size):
        terms["widen"] += entering * stage.channels * stage.pixels
        parts = _bottleneck(settings.operation, stage.channels, stage.pixels)
        for name, cost in parts.items():
            terms[name] = terms.get(name, 0) + settings.blocks * cost
        entering = stage.channels
    return {**terms, "classifier": entering * num_classes}


def _hierarchical_san(
    settings: HierarchicalSANSettings, image_size: int, num_classes: int
) -> Terms:
    """3 C P + L (C^2 P + 2 bottlenecks) - (2 L - 1) keys + C K, P = S^2.

    Keys are made once, in the first bottleneck of the first pass.
    """
    width, pixels = settings.width, image_size**2
    calls = 2 * settings.layers
    parts = _bottleneck(settings.operation, width, pixels)
    return {
        "stem": CHANNELS * width * pixels,
        "widen": settings.layers * width**2 * pixels,
        **{name: calls * cost for name, cost in parts.items()},
        "keys": parts["keys"],
        "classifier": width * num_classes,
    }


def _bottleneck(operation: str, channels: int, pixels: int) -> Terms:
    """One SAN bottleneck: U = queries, values and weights; K = keys; E = expand.

    With r = C/16, m = C/4: queries and keys r C P each, values m C P, expand m C P;
    weights (compared hidden + hidden produced) P, nine times that if pairwise,
    which also maps the positions, 2 x 2 P. The sum of weighted neighbours is
    element-wise: see `aggregation_flops`.
    """
    unit = attention_unit(operation, channels)
    pairwise = operation == "pairwise"
    applied = pixels * (NEIGHBOURS if pairwise else 1)
    return {
        "queries": unit.relation * channels * pixels,
        "keys": unit.relation * channels * pixels,
        "values": unit.middle * channels * pixels,
        "positions": 4 * pixels if pairwise else 0,
        "weights": (unit.compared + unit.produced) * unit.hidden * applied,
        "expand": unit.middle * channels * pixels,
    }


def aggregation_flops(settings: ModelSettings, image_size: int) -> int:
    """Operations of SAN's element-wise aggregation; 0 for the other families.

    2 * 9 * (C/4) * P an attention call. In the other families the same step is a
    matrix product and is part of `flops_by_formula`.
    """
    if isinstance(settings, SANSettings):
        stages = san_stages(settings, image_size)
        gathered = settings.blocks * sum(s.channels // 4 * s.pixels for s in stages)
    elif isinstance(settings, HierarchicalSANSettings):
        gathered = 2 * settings.layers * (settings.width // 4) * image_size**2
    else:
        gathered = 0
    return 2 * NEIGHBOURS * gathered
