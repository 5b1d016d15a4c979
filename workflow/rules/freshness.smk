# Which finished jobs run again, and why.


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


def images_to_train_on(wildcards):
    """The prepared images, for a run that is not finished.

    A finished one needs none: that images are prepared again retrains nothing, unless
    they or the run's settings are others.
    """
    run = get_run(wildcards)
    folder = f"{RESULTS}/runs/{run.variant_id}/seed{run.seed}"
    outputs = [f"{folder}/{name}" for name in RUN_FILES]
    status, _ = read_object(Path(folder) / "status.json")
    metrics, _ = read_object(Path(folder) / "metrics.json")
    changes = [] if status.get("status") == "imported" else why_retrained(run, metrics)
    if changes:
        forced(outputs, f"{run.name} is trained again: {'; '.join(changes)}.")
    elif all(Path(output).exists() for output in outputs):
        return []
    return [ancient(file) for file in PREPARED]


def why_retrained(run, metrics):
    """What is different from when a run was trained."""
    changes = setting_changes(run, metrics)
    if metrics and (NEW_IMAGES or data_changed(metrics, FACTS.get("checksum"))):
        changes.append("other images")
    return changes
