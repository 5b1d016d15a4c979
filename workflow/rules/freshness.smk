# Which finished jobs run again, and why.


IMPORT_AGAIN = (
    "weights of {name}, which were imported: python -m reattn import {variant} "
    "CHECKPOINT --study {study} --seed {seed} --replace"
)


def forced(outputs, because):
    """Have a job run whose outputs are there; a dry run tells why.

    Snakemake remembers the params of jobs, but not in a fresh clone.
    """
    if workflow.is_main_process and not workflow.dag.forcefiles >= set(outputs):
        workflow.dag.forcefiles.update(outputs)
        logger.info(f"{because}")
    return []


def if_new_images(wildcards):
    """Nothing; where the source is another one, images are prepared again."""
    return forced(PREPARED, f"{IMAGES} is not what was prepared.") if NEW_IMAGES else []


def recorded(run):
    """What a run left on disk: the contents of its status and of its metrics."""
    folder = Path(folder_of(run))
    return [read_object(folder / name)[0] for name in ("status.json", "metrics.json")]


def images_to_train_on(wildcards):
    """The prepared images, for a run that is not finished.

    A finished one needs none: that images are prepared again retrains nothing, unless
    they or the run's settings are others. It may be kept without what is large.
    """
    run = get_run(wildcards)
    outputs = [f"{folder_of(run)}/{name}" for name in RUN_FILES]
    complete = all(Path(folder_of(run), name).exists() for name in KEPT_FILES)
    if recorded(run)[0].get("status") == "imported":
        # A missing input: what was imported is never trained in its place.
        place = {"variant": run.variant_id, "study": STUDY, "seed": run.seed}
        return [] if complete else [IMPORT_AGAIN.format(name=run.name, **place)]
    if changes := why_retrained(run):
        forced(outputs, f"{run.name} is trained again: {'; '.join(changes)}.")
    elif complete:
        return []
    return [ancient(file) for file in PREPARED]


def why_retrained(run):
    """What is different from when a run was trained, or cannot be read any more."""
    status, metrics = recorded(run)
    if not (status and metrics):
        ended = Path(folder_of(run), "status.json").exists()
        return ["what it left cannot be read"] if ended else []
    checksum = FACTS.get("checksum")
    return retraining_reasons(run, metrics, checksum, new_images=NEW_IMAGES)


def fingerprint_of(wildcards):
    """The fingerprint that a run's numbers stand for: its own, as long as it holds."""
    run = get_run(wildcards)
    status, metrics = recorded(run)
    holds = status.get("status") == "imported" or not setting_changes(run, metrics)
    return holds and metrics.get("fingerprint") or run.fingerprint


def kept(runs, name):
    """A file of each run that is there, or that a training is going to make.

    A run that was kept without it is not retrained.
    """
    return [
        path
        for run in runs
        if Path(path := f"{folder_of(run)}/{name}").exists()
        or not all(recorded(run))
        or why_retrained(run)
    ]


def weights_of(wildcards):
    """Weights to look into."""
    return kept([r for r in RUNS if r.variant_id == wildcards.variant], "model.pt")


def predictions_there_are(wildcards):
    """Predictions to compare."""
    return kept(RUNS, "predictions.npz")


def stale_runs():
    """Runs that other code than today's trained; they are trained again on demand."""
    stale = []
    for run in RUNS:
        status, metrics = recorded(run)
        if status.get("status") == "ok" and code_changed(run, metrics):
            stale.append(f"{run.variant_id}/seed{run.seed}")
    return stale


STALE = stale_runs()
if STALE and workflow.is_main_process:
    logger.info(
        f"Trained by other code than today's: {', '.join(STALE)}. To train them again: "
        f"python -m reattn retry {STUDY} --stale"
    )
