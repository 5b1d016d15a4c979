"""Draws what was measured of a study's attention."""

import math

import numpy as np

from reattn.config import load_resolved, results_folder
from reattn.config.faults import suggestion
from reattn.config.models import Settings
from reattn.errors import ConfigError
from reattn.figures.attention_metrics import draw_attention_metrics

LOCAL = ("san", "ha-san")
NEIGHBOURS = 9  # keys of local attention


def draw_variant_metrics(study: str, variant_id: str) -> None:
    """Draw a variant's metrics into results/<study>/figures/attention-metrics.

    Raises:
        ConfigError: there is no such study, or it has no such variant.
        ReattnError: the file of metrics is missing, torn or foreign.
    """
    settings, variants = load_resolved(study)
    if variant_id not in variants:
        nearest = suggestion(variant_id, variants)
        raise ConfigError([f"Study {study} has no variant {variant_id!r}. {nearest}"])
    variant = variants[variant_id]
    draw_attention_metrics(
        results_folder(study),
        variant_id,
        variant.label,
        uniform=uniform_metrics(variant.model, settings.data.image_size),
        local=variant.model.family in LOCAL,
        reduced=settings.reduced,
    )


def uniform_metrics(model: Settings, image_size: int) -> dict[str, float]:
    """Metrics of attention that is alike for all keys, where they are known.

    Args:
        model: Settings with a patch size, or of local attention; else none is known.
        image_size: Side in pixels.
    """
    patch = getattr(model, "patch_size", None)
    if patch is None and model.family not in LOCAL:
        return {}
    keys = NEIGHBOURS if patch is None else (image_size // patch) ** 2
    known = {
        "self_mass": 1 / keys,
        "concentration": 1 / keys,
        "entropy": math.log(keys),
    }
    if patch is not None:
        along = patch * np.arange(image_size // patch)
        apart = along[:, None] - along
        distances = np.hypot(apart[:, :, None, None], apart)
        known["distance"] = float(distances.mean())
    return known
