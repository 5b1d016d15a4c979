"""One rule that brings any picture to three channels and a square."""

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from reattn.errors import DataError

SIZE_RULE = (
    "images of another size are cut to their central square and resized with "
    "Pillow's bilinear filter, antialiased when they shrink"
)
CHANNEL_RULE = (
    "grey images get three equal channels; palettes are resolved; transparency "
    "lies over white; CMYK is converted; 16-bit and floating-point images are "
    "refused; of several frames the first counts; EXIF orientation is not applied"
)
_REFUSED_MODES = ("I", "F")


def decode_image(
    content: bytes, size: int, name: str
) -> tuple[NDArray[np.uint8], list[str]]:
    """Decode a file's bytes into a square RGB image.

    Args:
        content: The bytes of a picture in any format that Pillow reads.
        size: Side of the result in pixels.
        name: Of the file, for messages.

    Returns:
        The image, uint8 of shape (3, size, size), and the rules that touched it:
        `grey`, `palette`, `transparent`, `cmyk`, `resized`.

    Raises:
        DataError: the file is broken or of a kind that is refused.
    """
    try:
        with Image.open(io.BytesIO(content)) as image:
            image.load()
            colour, rules = _as_rgb(image, name)
    except DataError:
        raise
    except Exception as fault:  # Pillow's decoders raise many kinds on broken bytes.
        known = not isinstance(fault, UnidentifiedImageError)
        reason = fault if known else "in no format that Pillow knows"
        raise DataError(
            f"{name} is not a readable image ({reason}). Mend or remove it."
        ) from None
    if colour.size != (size, size):
        rules.append("resized")
    return as_square(colour, size), rules


def as_square(image: Image.Image, size: int) -> NDArray[np.uint8]:
    """The central square of an RGB picture, uint8 of shape (3, size, size)."""
    if image.size != (size, size):
        width, height = image.size
        side = min(width, height)
        left, top = (width - side) // 2, (height - side) // 2
        square = image.crop((left, top, left + side, top + side))
        image = square.resize((size, size), Image.Resampling.BILINEAR)
    return np.ascontiguousarray(np.asarray(image).transpose(2, 0, 1))


def _as_rgb(image: Image.Image, name: str) -> tuple[Image.Image, list[str]]:
    if image.mode.startswith(_REFUSED_MODES):
        raise DataError(
            f"{name} has pixels of mode {image.mode!r}, which have no agreed scale "
            "to 8 bits. Convert it to 8 bits a channel."
        )
    rules = [rule for rule, holds in _rules_of(image).items() if holds]
    if "transparent" in rules:
        pixels = image.convert("RGBA")
        white = Image.new("RGBA", pixels.size, "white")
        image = Image.alpha_composite(white, pixels)
    return image.convert("RGB"), rules


def _rules_of(image: Image.Image) -> dict[str, bool]:
    return {
        "grey": image.mode in ("1", "L", "LA", "La"),
        "palette": image.mode in ("P", "PA"),
        "transparent": image.has_transparency_data,
        "cmyk": image.mode == "CMYK",
    }
