"""A study's variants with their size and cost."""

import pandas as pd
import torch

from reattn.config import load_resolved
from reattn.measure.flops import count_flops, count_parameters
from reattn.models.build import build_model

CLASSES = 10


def list_variants(name: str) -> pd.DataFrame:
    """Variant, label, group, parameters and operations of one image.

    Every model is built and its operations counted, as the study configures it, on
    torch's meta device: shapes are followed, nothing is computed.

    Raises:
        ConfigError: the study or a variant has faults.
    """
    study, variants = load_resolved(name)
    size = study.data.image_size
    rows = []
    for variant_id, variant in variants.items():
        with torch.device("meta"):
            model = build_model(variant, image_size=size, num_classes=CLASSES)
            parameters, operations = count_parameters(model), count_flops(model, size)
        rows.append(
            {
                "variant": variant_id,
                "label": variant.label,
                "group": variant.group,
                "params": parameters,
                "flops": operations,
            }
        )
    return pd.DataFrame(rows)
