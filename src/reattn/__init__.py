"""A reproducibility report that rebuilds itself.

The functions below are imported when first used, so that `import reattn` costs
nothing to the parts that need no torch.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "attention_probabilities": "reattn.models.recording",
    "build_model": "reattn.models.build",
    "load_authors_checkpoint": "reattn.models.checkpoints",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'reattn' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
