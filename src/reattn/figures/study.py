"""Draws the attention of a study's variants from its arrays."""

from reattn.attention.arrays import load_arrays
from reattn.config import load_resolved, results_folder
from reattn.config.faults import suggestion
from reattn.errors import ConfigError
from reattn.figures.attention import draw_attention_figures


def draw_variant(study: str, variant_id: str) -> None:
    """Draw a variant's attention into results/<study>/figures/attention/<variant>.

    Raises:
        ConfigError: there is no such study, or it has no such variant.
        ReattnError: the arrays are missing or not ours.
    """
    _, variants = load_resolved(study)
    if variant_id not in variants:
        nearest = suggestion(variant_id, variants)
        raise ConfigError([f"Study {study} has no variant {variant_id!r}. {nearest}"])
    results = results_folder(study)
    path = results / "attention" / f"{variant_id}.npz"
    folder = results / "figures" / "attention" / variant_id
    draw_attention_figures(load_arrays(path), folder, path)
