"""Configuration: what to train, on what, and for how long."""

from reattn.config.loading import load_study, load_variant, load_variants
from reattn.config.paths import results_folder
from reattn.config.resolution import load_resolved, overrides_of, resolve_variants
from reattn.config.studies import Study
from reattn.config.variants import Recipe, Variant

__all__ = [
    "Recipe",
    "Study",
    "Variant",
    "load_resolved",
    "load_study",
    "load_variant",
    "load_variants",
    "overrides_of",
    "resolve_variants",
    "results_folder",
]
