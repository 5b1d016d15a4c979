"""Where a project keeps its configuration and results."""

import os
from pathlib import Path

from reattn.errors import ReattnError

# What a training writes, the status last; weights and predictions are not committed.
KEPT_FILES = ("metrics.json", "history.csv", "status.json")
RUN_FILES = ("model.pt", "predictions.npz", *KEPT_FILES)
# Groups of variants with tables of their own beside the report's.
APART = ("audit", "projections", "depth")
# Figures of all models together.
CHARTS = ("diagrams", "curves", "comparison", "constructed")
# What claims are judged by, and every table of a study.
EVIDENCE = (
    *("models", "runs", "hyperparameters", "hierarchical", "variants"),
    *("attention", "audit", "comparisons", "depth", "projections", "constructed"),
)
TABLES = (*EVIDENCE, "claims", "published")


def project_root() -> Path:
    """The folder that holds `config/studies`: here or above, or $REATTN_ROOT.

    Raises:
        ReattnError: no such folder.
    """
    given = os.environ.get("REATTN_ROOT")
    candidates = [Path(given)] if given else [Path.cwd(), *Path.cwd().parents]
    for folder in candidates:
        if (folder / "config" / "studies").is_dir():
            return folder
    where = f"REATTN_ROOT={given}" if given else f"{Path.cwd()} and the folders above"
    raise ReattnError(
        f"No folder config/studies in {where}. Change to the project's folder, or "
        "set REATTN_ROOT to it."
    )


def config_folder() -> Path:
    """The project's `config` folder."""
    return project_root() / "config"


def results_folder(study: str) -> Path:
    """Everything that a study makes lives below this folder."""
    return project_root() / "results" / study


def run_folder(study: str, variant: str, seed: int) -> Path:
    """The declared outputs of one run."""
    return results_folder(study) / "runs" / variant / f"seed{seed}"


def work_folder(study: str, variant: str, seed: int) -> Path:
    """Checkpoints of one run; never a declared output, so never deleted."""
    return results_folder(study) / "work" / variant / f"seed{seed}"


def data_folder(study: str) -> Path:
    """The prepared images of a study."""
    return results_folder(study) / "data"


def shown(path: Path) -> str:
    """A path as messages show it: from the project's folder where it lies inside."""
    try:
        return str(path.relative_to(project_root()))
    except (ValueError, ReattnError):
        return str(path)
