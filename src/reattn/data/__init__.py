"""Images: prepared once, opened read-only, augmented on the run's device.

The names below are imported when first used and need no torch. What needs it
stays in its module: `reattn.data.augment.augment`, `reattn.data.pixels.normalise`.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Dataset": "reattn.data.dataset",
    "download_cifar10": "reattn.data.cifar10_files",
    "load_attention_images": "reattn.data.attention_images",
    "open_data": "reattn.data.dataset",
    "prepare": "reattn.data.preparation",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'reattn.data' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
