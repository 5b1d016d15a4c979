"""A run: one variant with one seed in one study."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reattn.code import code_hash
from reattn.config.budget import Budget, budget_of
from reattn.config.paths import data_folder, run_folder, work_folder
from reattn.config.resolution import load_resolved, overrides_of
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.errors import ReattnError

FINGERPRINT_VERSION = 1  # raised when old results no longer mean the same


@dataclass(frozen=True)
class Run:
    """All that determines a run's numbers, apart from code and data."""

    study_name: str
    variant_id: str
    seed: int
    study: Study
    variant: Variant
    overrides: dict[str, Any]

    @property
    def budget(self) -> Budget:
        """The run's schedule."""
        return budget_of(self.variant.recipe, self.study.training)

    @property
    def folder(self) -> Path:
        """Where its declared outputs lie."""
        return run_folder(self.study_name, self.variant_id, self.seed)

    @property
    def work(self) -> Path:
        """Where its checkpoints lie."""
        return work_folder(self.study_name, self.variant_id, self.seed)

    @property
    def data(self) -> Path:
        """Where the prepared images lie."""
        return data_folder(self.study_name)

    def epoch_images(self, available: int) -> int:
        """Training images an epoch, of those that there are."""
        asked = self.study.training.epoch_images
        return available if asked == "all" else asked

    @property
    def code_hash(self) -> str:
        """A digest of today's code that decides the run's numbers."""
        model = self.variant.model
        return code_hash(model.family, getattr(model, "mechanism", None))

    @property
    def name(self) -> str:
        """The run's name in logs and trackers."""
        return f"{self.study_name}/{self.variant_id}/seed{self.seed}"

    @property
    def fingerprint(self) -> str:
        """A digest of every setting that decides the run's numbers.

        A label, the table order, the tracker and the place of the data are not
        among them; the data's own checksum is recorded beside it.
        """
        text = json.dumps(self.settings, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting that decides the run's numbers."""
        data = self.study.data.model_dump(exclude={"path", "note"})
        training = self.study.training.model_dump(exclude={"wandb", "epochs", "batch"})
        return {
            "version": FINGERPRINT_VERSION,
            "seed": self.seed,
            "model": self.variant.model.model_dump(),
            "recipe": self.variant.recipe.model_dump(),
            "budget": asdict(self.budget),
            "data": data,
            "training": training,
            "validation_images": self.study.validation.images,
        }


def runs_of(name: str) -> list[Run]:
    """Every run of a study, in table order.

    Raises:
        ConfigError: the study or a variant has faults.
    """
    study, variants = load_resolved(name)
    return [
        Run(
            study_name=name,
            variant_id=variant_id,
            seed=seed,
            study=study,
            variant=variant,
            overrides=overrides_of(study, variant_id, variant),
        )
        for variant_id, variant in variants.items()
        for seed in study.seeds
    ]


def find_run(name: str, variant_id: str, seed: int) -> Run:
    """One run of a study.

    Raises:
        ConfigError: the study or a variant has faults.
        ReattnError: the study has no such run.
    """
    runs = runs_of(name)
    for run in runs:
        if (run.variant_id, run.seed) == (variant_id, seed):
            return run
    variants = ", ".join(dict.fromkeys(run.variant_id for run in runs))
    seeds = ", ".join(map(str, dict.fromkeys(run.seed for run in runs)))
    raise ReattnError(
        f"Study {name} has no run {variant_id} with seed {seed}. Its variants: "
        f"{variants}. Its seeds: {seeds}."
    )
