"""Whether a study has everything that its report is made of."""

from collections.abc import Iterator

from reattn.config.paths import results_folder, shown
from reattn.config.runs import runs_of
from reattn.report.manifest import NAME


def absent_parts(study: str) -> list[str]:
    """What a study still lacks: runs, measurements, figures of attention."""
    return list(_absent(study))


def _absent(study: str) -> Iterator[str]:
    results, runs = results_folder(study), runs_of(study)
    open_runs = [run for run in runs if not (run.folder / "status.json").exists()]
    if open_runs:
        yield f"{len(open_runs)} of {len(runs)} runs"
    if not (results / "measure" / "measurements.csv").exists():
        yield "measurements"
    variants = dict.fromkeys(run.variant_id for run in runs)
    drawn = results / "figures" / "attention"
    if any(not (drawn / variant).is_dir() for variant in variants):
        yield shown(drawn)


def forget_manifest(study: str) -> None:
    """Leave the report without its list of files, and so unfinished for a workflow."""
    (results_folder(study) / "report" / NAME).unlink(missing_ok=True)
