"""What a run's numbers are, and whether two runs have the same to the last bit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from reattn.training import checkpoints

OUTPUTS = {
    *("metrics.json", "model.pt", "history.csv", "predictions.npz", "status.json"),
}
# Times, places and how often a run was interrupted; everything else must be equal.
VOLATILE = {
    *("train_seconds", "images_per_second", "wandb_run", "commit", "sessions"),
    "device",
}


def numbers_of(folder: Path) -> dict[str, Any]:
    """The numbers of the run whose outputs lie in a folder."""
    metrics = json.loads((folder / "metrics.json").read_text())
    history = pd.read_csv(folder / "history.csv").drop(columns="seconds")
    with np.load(folder / "predictions.npz") as arrays:
        predictions = {name: arrays[name] for name in arrays.files}
    return {
        "metrics": {k: v for k, v in metrics.items() if k not in VOLATILE},
        "status": json.loads((folder / "status.json").read_text()),
        "history": history.to_dict(),
        "predictions": predictions,
        "weights": checkpoints.load(folder / "model.pt")["model"],
    }


def assert_equal_bit_for_bit(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Two runs have the same numbers to the last bit."""
    for part, values in one.items():
        assert values.keys() == other[part].keys(), part
        for name, value in values.items():
            found = other[part][name]
            if isinstance(value, torch.Tensor):
                assert torch.equal(value, found), f"{part}: {name} differs"
            else:
                np.testing.assert_equal(found, value, err_msg=f"{part}: {name}")
