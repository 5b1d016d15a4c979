"""From an image to a grid of patches."""

from torch import Tensor, nn

from reattn.models.products import Linear

IMAGE_CHANNELS = 3


def grid_of(image_size: tuple[int, int], patch_size: int) -> tuple[int, int]:
    """Rows and columns of patches in an image that they divide."""
    height, width = image_size
    return height // patch_size, width // patch_size


class Patches(nn.Module):
    """Each patch's pixels, mapped to features.

    Source: Prabhu and Varma, main/models/networks.py: the order of a patch's values
    is row, column, colour.

    Args:
        patch_size: Side of a patch, in pixels.
        width: Features of a patch.
    """

    def __init__(self, patch_size: int, width: int):
        super().__init__()
        self.patch_size = patch_size
        self.projection = Linear(IMAGE_CHANNELS * patch_size**2, width)

    def forward(self, images: Tensor) -> Tensor:
        """(batch, 3, H, W) to (batch, patches, width), row by row."""
        side = self.patch_size
        batch, channels, height, width = images.shape
        pixels = images.reshape(
            batch, channels, height // side, side, width // side, side
        ).permute(0, 2, 4, 3, 5, 1)
        return self.projection(pixels.reshape(batch, -1, side * side * channels))
