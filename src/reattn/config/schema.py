"""JSON schemas of the configuration files, generated from the models."""

import json

from reattn.config.claims import Claims
from reattn.config.studies import Study
from reattn.config.variants import Variant


def schemas() -> dict[str, str]:
    """File name to text of every schema in workflow/schemas."""
    return {
        f"{name}.schema.json": json.dumps(model.model_json_schema(), indent=2) + "\n"
        for name, model in (
            ("study", Study),
            ("variant", Variant),
            ("claims", Claims),
        )
    }
