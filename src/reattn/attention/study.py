"""Saves where a trained variant of a study looks."""

import logging
from pathlib import Path
from typing import Any

from torch import nn

from reattn.attention.arrays import Arrays, save_arrays, with_meta
from reattn.attention.extract import extract_attention
from reattn.config import results_folder
from reattn.config.explored import is_explored
from reattn.config.faults import suggestion
from reattn.config.runs import Run, runs_of
from reattn.data import Dataset, load_attention_images, open_data
from reattn.data.fit import require_fit
from reattn.errors import CheckpointError, ConfigError, ReattnError
from reattn.files import read_json
from reattn.training.weights import load_weights

log = logging.getLogger(__name__)

USABLE = ("ok", "imported")


def save_attention(study: str, variant_id: str) -> Path:
    """Write the attention arrays of a variant's first run that ended well.

    Without such a run the file says so, so that figures and report can.

    Args:
        study: The study.
        variant_id: One of its variants.

    Returns:
        The file that was written.

    Raises:
        ConfigError: the study has no such variant.
        CheckpointError: the run's weights cannot be read.
        DataError: the data is not prepared, or a chosen image is missing.
        ReattnError: a run's status.json is torn or foreign.
    """
    runs = runs_of_variant(study, variant_id)
    usable = [run for run in runs if run_status(run) in USABLE]
    kept = [run for run in usable if (run.folder / "model.pt").exists()]
    arrays = _attention(kept[0]) if kept else _no_attention(runs, usable)
    path = results_folder(study) / "attention" / f"{variant_id}.npz"
    save_arrays(path, arrays)
    return path


def runs_of_variant(study: str, variant_id: str) -> list[Run]:
    """The runs of a variant, one a seed.

    Raises:
        ConfigError: the study has faults, or no such variant.
    """
    all_runs = runs_of(study)
    runs = [run for run in all_runs if run.variant_id == variant_id]
    if not runs:
        nearest = suggestion(variant_id, {run.variant_id for run in all_runs})
        raise ConfigError([f"Study {study} has no variant {variant_id!r}. {nearest}"])
    return runs


def run_status(run: Run) -> str:
    """How a run ended, or `missing`.

    Raises:
        ReattnError: its status.json does not say.
    """
    path = run.folder / "status.json"
    if not path.exists():
        return "missing"
    content = read_json(path)
    status = content.get("status") if isinstance(content, dict) else None
    if not isinstance(status, str):
        raise ReattnError(
            f"{path} does not say how the run ended. Delete it and train again: "
            f"python -m reattn train {run.study_name} {run.variant_id} "
            f"--seed {run.seed}"
        )
    return status


def _attention(run: Run) -> Arrays:
    dataset = open_data(run.data)
    require_fit(run.study_name, run.study, dataset)
    size = run.study.data.image_size
    settings = run.study.attention
    names, images = load_attention_images(settings.images, dataset, size)
    model = load_weights(run, (size, size), len(dataset.classes))
    require_finite(run, model)
    return extract_attention(
        model,
        images=images,
        names=names,
        queries_pixels=settings.queries,
        mean=dataset.mean,
        std=dataset.std,
        meta=_meta(run, dataset),
        every_query=is_explored(run.variant),
    )


def require_finite(run: Run, model: nn.Module) -> None:
    """A softmax over what is not a number would be shown as if it were something.

    Raises:
        CheckpointError: a weight is not finite.
    """
    for name, weight in model.state_dict().items():
        if weight.is_floating_point() and not weight.isfinite().all():
            raise CheckpointError(
                f"{run.folder / 'model.pt'}: {name} is not finite. Train {run.name} "
                "again."
            )


def _meta(run: Run, dataset: Dataset | None) -> dict[str, Any]:
    return {
        "study": run.study_name,
        "variant": run.variant_id,
        "label": run.variant.label,
        "family": run.variant.model.family,
        "seed": run.seed,
        "reduced": run.study.reduced,
        "data_source": dataset.info["source"] if dataset else None,
    }


def _no_attention(runs: list[Run], usable: list[Run]) -> Arrays:
    meta = _meta(runs[0], None)
    if usable:
        reason = f"The weights of {meta['label']} are not kept here."
    else:
        states = ", ".join(f"seed {run.seed}: {run_status(run)}" for run in runs)
        reason = f"{meta['label']} has no run that ended well ({states})."
    log.warning("%s The file says so; figures and report will.", reason)
    return with_meta({}, {**meta, "kind": "none", "reason": reason})
