"""Whether images can enter a model, told before torch would fail inside it."""

from torch import Tensor, nn

from reattn.config.models import EncoderSettings
from reattn.config.sizes import size_faults
from reattn.errors import ReattnError
from reattn.models.patches import IMAGE_CHANNELS


def check_images(model: nn.Module, images: Tensor) -> None:
    """Refuse images that a model of `build_model` cannot take.

    Encoders take images of the size that they were built for; the others have no
    positions and take every size that their pooling and padding allow.

    Raises:
        ReattnError: no tensor (batch, 3, height, width), another type or device
            than the weights, or another size.
    """
    fault = _tensor_fault(images) or _weight_fault(model, images)
    fault = fault or _size_fault(model, tuple(images.shape[2:]))
    if fault:
        raise ReattnError(f"{type(model).__name__} cannot take these images: {fault}.")


def _tensor_fault(images: Tensor) -> str | None:
    wanted = f"give a float tensor (batch, {IMAGE_CHANNELS}, height, width)"
    if not isinstance(images, Tensor):
        return f"they are a {type(images).__name__}; {wanted}"
    if images.dim() != 4 or images.shape[1] != IMAGE_CHANNELS or not len(images):
        return f"their shape is {tuple(images.shape)}; {wanted}"
    return None


def _weight_fault(model: nn.Module, images: Tensor) -> str | None:
    weight = next(model.parameters())
    if images.dtype != weight.dtype:
        return (
            f"they are {images.dtype}, the weights {weight.dtype}; normalise them and "
            f"convert with images.to({weight.dtype})"
        )
    if images.device != weight.device:
        return (
            f"they are on {images.device}, the weights on {weight.device}; move them "
            f"with images.to({str(weight.device)!r})"
        )
    return None


def _size_fault(model: nn.Module, size: tuple[int, int]) -> str | None:
    settings = getattr(model, "settings", None)
    if isinstance(settings, EncoderSettings):
        height, width = model.image_size
        if size == (height, width):
            return None
        return (
            f"they have {size[0]}x{size[1]} pixels, but it was built for {height}x"
            f"{width}; resize them, or build it with image_size={size}"
        )
    faults = [] if settings is None else size_faults(settings, size)
    return faults[0] if faults else None
