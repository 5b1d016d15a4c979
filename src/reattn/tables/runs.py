"""What each run of a study left on disk."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reattn.config.resolution import overrides_of
from reattn.config.runs import Run
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.tables.run_files import count_test_images, read_metrics, read_object

WORST_LAST = ("ok", "imported", "stale", "missing", "diverged", "failed")


@dataclass(frozen=True)
class RunRecord:
    """One run as it stands on disk.

    Attributes:
        variant: Its variant's id.
        seed: Its seed.
        status: ok, imported, stale, missing, diverged or failed.
        reason: Why it is not ok, or None.
        metrics: The content of metrics.json; empty where there is none.
        test_images: Images behind its accuracy, or None where that is unknown.
    """

    variant: str
    seed: int
    status: str
    reason: str | None = None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    test_images: int | None = None


def read_runs(
    study: Study, variants: Mapping[str, Variant], results: Path
) -> list[RunRecord]:
    """Every planned run, missing ones too, and imported ones of any seed."""
    return [
        _read_run(study, name, variant, seed, results)
        for name, variant in variants.items()
        for seed in [*study.seeds, *_imported_seeds(study, name, results)]
    ]


def _imported_seeds(study: Study, name: str, results: Path) -> list[int]:
    found = []
    for folder in (results / "runs" / name).glob("seed*"):
        seed = folder.name.removeprefix("seed")
        if seed.isdecimal() and int(seed) not in study.seeds:
            status, _ = read_object(folder / "status.json")
            if status.get("status") == "imported":
                found.append(int(seed))
    return sorted(found)


def _read_run(
    study: Study, name: str, variant: Variant, seed: int, results: Path
) -> RunRecord:
    folder = results / "runs" / name / f"seed{seed}"
    status, fault = read_object(folder / "status.json")
    if not status:
        return RunRecord(name, seed, "missing", fault)
    metrics, fault = read_metrics(folder / "metrics.json")
    word, reason = status.get("status", "failed"), status.get("reason") or None
    if word in ("ok", "imported") and not metrics:
        return RunRecord(name, seed, "missing", fault)
    if word == "ok" and _is_stale(study, name, variant, seed, metrics):
        word = "stale"
        reason = "trained with other settings than the study has now"
    if word not in WORST_LAST:
        word, reason = "failed", f"status.json holds the unknown status {word!r}"
    images = count_test_images(metrics, folder, results)
    return RunRecord(name, seed, word, reason and str(reason), metrics, images)


def _is_stale(
    study: Study, name: str, variant: Variant, seed: int, metrics: Mapping[str, Any]
) -> bool:
    recorded = metrics.get("fingerprint")
    if recorded is None:
        return False
    overrides = overrides_of(study, name, variant)
    run = Run("", name, seed, study, variant, overrides)
    return recorded != run.fingerprint
