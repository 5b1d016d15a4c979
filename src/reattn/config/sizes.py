"""Which image sizes a model's settings allow."""

from reattn.config.models import (
    EncoderSettings,
    HierarchicalSANSettings,
    Learned2DSettings,
    ModelSettings,
    ProjectionsSettings,
    ResNetSettings,
    SANSettings,
)

Size = tuple[int, int]

SMALLEST_MAP = 2  # reflection padding by one pixel needs two pixels to reflect
RESNET_STRIDE = 8  # three of its stages halve the map
CHANNELS_PER_WEIGHT = 32  # SAN: a quarter of the channels, shared by eight


def size_faults(settings: ModelSettings, image_size: Size) -> list[str]:
    """Why images of this size cannot enter the model; empty when they can.

    Args:
        settings: A model's settings.
        image_size: Height and width in pixels.
    """
    if isinstance(settings, EncoderSettings):
        return _encoder_faults(settings, image_size)
    if isinstance(settings, SANSettings):
        return _width_faults(settings.width) + _stage_faults(settings, image_size)
    if isinstance(settings, HierarchicalSANSettings):
        return _width_faults(settings.width) + _map_faults(image_size)
    return []


def training_faults(settings: ModelSettings, image_size: Size) -> list[str]:
    """Why a model that takes images of this size could not be trained on them.

    Args:
        settings: A model's settings.
        image_size: Height and width in pixels.
    """
    if not isinstance(settings, ResNetSettings) or min(image_size) > RESNET_STRIDE:
        return []
    return [
        f"{image_size[0]}x{image_size[1]} images leave one pixel in the last stage, "
        "whose batch normalisation has no deviation over a batch of one image; use "
        f"images of at least {RESNET_STRIDE + 1} pixels"
    ]


def _encoder_faults(settings: EncoderSettings, image_size: Size) -> list[str]:
    height, width = image_size
    faults = []
    if height % settings.patch_size or width % settings.patch_size:
        valid = [
            n for n in range(1, min(image_size) + 1) if height % n == width % n == 0
        ]
        faults.append(
            f"patch_size = {settings.patch_size} does not divide {height}x{width} "
            f"images; possible: {', '.join(map(str, valid))}"
        )
    if isinstance(settings, ProjectionsSettings) and settings.width % 2:
        faults.append(_odd_width(settings.width))
    if isinstance(settings, Learned2DSettings) and settings.content:
        faults += _content_faults(settings, image_size)
    return faults


def _content_faults(settings: Learned2DSettings, image_size: Size) -> list[str]:
    faults = []
    if settings.width % 2:
        faults.append(_odd_width(settings.width))
    if settings.content_alignment == "authors" and image_size[0] != image_size[1]:
        faults.append(
            "content_alignment = authors transposes the map, so it needs square "
            f"images, not {image_size[0]}x{image_size[1]}; use square ones or `aligned`"
        )
    return faults


def _odd_width(width: int) -> str:
    return f"width = {width} is odd; half of it scores rows, half columns: make it even"


def largest_stages(image_size: Size) -> int:
    """How often a map can be halved before it is too small to pad by reflection."""
    stages, side = 0, min(image_size)
    while side // 2 >= SMALLEST_MAP:
        stages, side = stages + 1, side // 2
    return stages


def _stage_faults(settings: SANSettings, image_size: Size) -> list[str]:
    possible = largest_stages(image_size)
    if settings.stages <= possible:
        return []
    height, width = image_size
    return [
        f"stages = {settings.stages} shrink {height}x{width} images below "
        f"{SMALLEST_MAP}x{SMALLEST_MAP}, which reflection padding needs; at most "
        f"{possible} stages fit"
    ]


def _map_faults(image_size: Size) -> list[str]:
    if min(image_size) >= SMALLEST_MAP:
        return []
    return [
        f"{image_size[0]}x{image_size[1]} images are too small to pad by reflection"
    ]


def _width_faults(width: int) -> list[str]:
    if width % CHANNELS_PER_WEIGHT == 0:
        return []
    return [f"width = {width} is not a multiple of {CHANNELS_PER_WEIGHT}"]
