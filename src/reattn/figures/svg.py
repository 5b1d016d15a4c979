"""SVG files that are small and the same, byte for byte, for the same figure."""

import base64
import io
import re
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from reattn.figures.svg_size import small_svg
from reattn.files import write_text

_SILENT = {"Date": None, "Creator": None, "Format": None, "Type": None}
_EMBEDDED_PNG = re.compile(r"data:image/png;base64,\s*([A-Za-z0-9+/=\s]+)")


def save_svg(figure: Figure, path: Path | str, *, title: str) -> Path:
    """Write a figure as SVG, whole or not at all, without date or version.

    Args:
        figure: What was drawn; call this inside `style.styled()`.
        path: Where to.
        title: Told to readers who hear the page.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={**_SILENT, "Title": title})
    write_text(path, _compact(buffer.getvalue()))
    return Path(path)


def _compact(text: str) -> str:
    """The same drawing in less than half of the bytes."""
    return _EMBEDDED_PNG.sub(lambda found: _repacked(found[1]), small_svg(text))


def _repacked(encoded: str) -> str:
    image = Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGBA")
    smaller = io.BytesIO()
    _with_palette(image).save(smaller, format="png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(smaller.getvalue()).decode()


def _with_palette(image: Image.Image) -> Image.Image:
    """The same image with one byte a pixel, if 256 colours suffice."""
    pixels = np.asarray(image)
    colours, index = np.unique(pixels.reshape(-1, 4), axis=0, return_inverse=True)
    if len(colours) > 256:
        return image if (pixels[..., 3] < 255).any() else image.convert("RGB")
    small = Image.frombytes("P", image.size, index.astype(np.uint8).tobytes())
    small.putpalette(colours.tobytes(), "RGBA")
    return small
