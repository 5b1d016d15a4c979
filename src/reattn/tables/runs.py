"""What each run of a study left on disk."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reattn.config.freshness import code_changed, retraining_reasons
from reattn.config.resolution import overrides_of
from reattn.config.runs import Run
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.tables.run_files import count_test_images, read_metrics, read_object

WORST_LAST = ("ok", "imported", "stale", "missing", "diverged", "failed")
OTHER_CODE = "trained by other code"


@dataclass(frozen=True)
class RunRecord:
    """One run as it stands on disk.

    Attributes:
        variant: Its variant's id.
        seed: Its seed.
        status: ok, imported, stale, missing, diverged or failed.
        reason: Why it is not ok, or None.
        comparable: Whether its numbers are those of the study's settings and images;
            those of a stale run are, if only the code has changed since.
        metrics: The content of metrics.json; empty where there is none.
        test_images: Images behind its accuracy, or None where that is unknown.
    """

    variant: str
    seed: int
    status: str
    reason: str | None = None
    comparable: bool = True
    metrics: Mapping[str, Any] = field(default_factory=dict)
    test_images: int | None = None

    @property
    def counts(self) -> bool:
        """Whether it ended well and its numbers are those of the study."""
        return self.status == "ok" or (self.status == "stale" and self.comparable)


def read_runs(
    study: Study,
    variants: Mapping[str, Variant],
    results: Path,
    *,
    check_code: bool = True,
) -> list[RunRecord]:
    """Every planned run, missing ones too, and imported ones of any seed.

    Args:
        study: The study.
        variants: Its variants by id, its overrides applied.
        results: The study's folder.
        check_code: Whether runs that other code than today's trained are stale.
    """
    return [
        _read_run(_run(study, name, variant, seed, results), results, check_code)
        for name, variant in variants.items()
        for seed in [*study.seeds, *_imported_seeds(study, name, results)]
    ]


def _run(study: Study, name: str, variant: Variant, seed: int, results: Path) -> Run:
    overrides = overrides_of(study, name, variant)
    return Run(results.name, name, seed, study, variant, overrides)


def _imported_seeds(study: Study, name: str, results: Path) -> list[int]:
    found = []
    for folder in (results / "runs" / name).glob("seed*"):
        seed = folder.name.removeprefix("seed")
        if seed.isdecimal() and int(seed) not in study.seeds:
            status, _ = read_object(folder / "status.json")
            if status.get("status") == "imported":
                found.append(int(seed))
    return sorted(found)


def _read_run(run: Run, results: Path, check_code: bool) -> RunRecord:
    name, seed = run.variant_id, run.seed
    folder = results / "runs" / name / f"seed{seed}"
    status, fault = read_object(folder / "status.json")
    if not status:
        checkpoint = results / "work" / name / f"seed{seed}" / "checkpoint.pt"
        begun = "; a checkpoint of it is there" if checkpoint.exists() else ""
        return RunRecord(name, seed, "missing", f"{fault}{begun}")
    metrics, fault = read_metrics(folder / "metrics.json")
    word, reason = status.get("status", "failed"), status.get("reason") or None
    if word in ("ok", "imported") and not metrics:
        return RunRecord(name, seed, "missing", fault)
    if word not in WORST_LAST:
        word, reason = "failed", f"status.json holds the unknown status {word!r}"
    images = count_test_images(metrics, folder, results)
    record = RunRecord(name, seed, word, reason and str(reason), True, metrics, images)
    if word == "imported":
        return record
    facts, _ = read_object(results / "data" / "data.json")
    changes = retraining_reasons(run, metrics, facts.get("checksum"))
    old_code = check_code and code_changed(run, metrics)
    return _compared(run, record, changes, old_code)


def _compared(
    run: Run, record: RunRecord, changes: list[str], old_code: bool
) -> RunRecord:
    """The record of a run that was trained here, seen from today."""
    comparable = not changes
    parts = [] if comparable else [f"changed since its training: {'; '.join(changes)}"]
    if old_code:
        parts.append(f"{OTHER_CODE} than today's")
    if not parts:
        return record
    reason = "; ".join(parts)
    if record.status != "ok":
        return replace(record, reason=f"{record.reason}; {reason}")
    reason = f"{reason}. {_refresh(run, comparable)}"
    return replace(record, status="stale", reason=reason, comparable=comparable)


def _refresh(run: Run, comparable: bool) -> str:
    """What trains a stale run again."""
    if not comparable:
        return "The next snakemake trains it again"
    place = f"{run.study_name} {run.variant_id}/seed{run.seed}"
    return f"To train it again: python -m reattn retry {place}"
