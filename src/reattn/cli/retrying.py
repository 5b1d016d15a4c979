"""Reopens runs: puts their outputs aside, so that the next snakemake trains them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from reattn.config.faults import suggestion
from reattn.config.occupation import occupy
from reattn.config.paths import RUN_FILES, shown
from reattn.config.runs import Run, runs_of
from reattn.errors import ReattnError
from reattn.tables.runs import RunRecord, read_runs
from reattn.training.alone import alone

CHECKPOINT = "checkpoint.pt"


def reopen_runs(study: str, names: Sequence[str], *, stale: bool) -> list[str]:
    """Put the outputs of runs aside; a line for each that says what comes next.

    A run goes on from its last good epoch, unless other code trained it: then it
    starts afresh. Nothing is deleted: outputs and checkpoint are kept under
    results/<study>/work/<variant>/seed<k>/set-aside-<n>.

    Args:
        study: The study.
        names: Runs, such as "vit/seed0", or variants for all their seeds; none: those
            that failed or diverged.
        stale: Also those that other code, settings or images made.

    Raises:
        ConfigError: the study has faults.
        ReattnError: a run is unknown or holds imported weights, or a workflow or a
            training is at work.
    """
    occupy(study)
    runs = {(run.variant_id, run.seed): run for run in runs_of(study)}
    chosen = set(_named(names, list(runs.values())))
    lines = []
    for record in _records(list(runs.values())):
        run = runs.get((record.variant, record.seed))
        if run is None or not any((run.folder / name).exists() for name in RUN_FILES):
            continue
        named = _name(run) in chosen
        if named and record.status == "imported":
            raise ReattnError(
                f"{_name(run)} holds imported weights. Remove {shown(run.folder)} to "
                "train it."
            )
        kinds = ("failed", "diverged", "stale") if stale else ("failed", "diverged")
        if named or (not names and record.status in kinds):
            with alone(run, wait=0):
                lines.append(_reopen(run, record))
    return lines


def _name(run: Run) -> str:
    return f"{run.variant_id}/seed{run.seed}"


def _named(names: Iterable[str], runs: list[Run]) -> Iterable[str]:
    known = {_name(run): run.variant_id for run in runs}
    for name in names:
        found = [full for full, variant in known.items() if name in (full, variant)]
        if not found:
            choices = [*known, *known.values()]
            raise ReattnError(
                f"Study {runs[0].study_name} has no run {name!r}. "
                f"{suggestion(name, choices)}"
            )
        yield from found


def _records(runs: list[Run]) -> list[RunRecord]:
    variants = {run.variant_id: run.variant for run in runs}
    return read_runs(runs[0].study, variants, runs[0].folder.parents[2])


def _reopen(run: Run, record: RunRecord) -> str:
    aside = _new_folder(run.work)
    files = [run.folder / name for name in RUN_FILES]
    checkpoint = run.work / CHECKPOINT
    today = run.code_hash
    afresh = (
        not checkpoint.exists()
        or record.status in ("ok", "stale")
        or record.metrics.get("code_hash") != today
    )
    if afresh:
        files.append(checkpoint)
    for file in files:
        if file.exists():
            file.replace(aside / file.name)
    how = "starts afresh" if afresh else "goes on after its last good epoch"
    return f"{_name(run)} ({record.status}) {how}; kept: {shown(aside)}"


def _new_folder(work: Path) -> Path:
    number = 1
    while (folder := work / f"set-aside-{number}").exists():
        number += 1
    folder.mkdir(parents=True)
    return folder
