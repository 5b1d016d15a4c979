# What is done before the first job and after the last.


def say(command):
    """Run a verb of reattn for what it prints."""
    return subprocess.run(
        [sys.executable, "-m", "reattn", *shlex.split(command)],
        env=os.environ | {"PYTHONPATH": SOURCE},
    )


def start_of_work():
    """Print the plan; stop at once where a GPU is needed and none is there.

    On a cluster the submitting host may have no GPU; there each job looks itself.
    """
    trains = any(job.name == "train_model" for job in workflow.dag.needrun_jobs())
    if trains and NEEDS_GPU and workflow.local_exec:
        if say("check-gpu").returncode:
            raise WorkflowError(
                f"Study {STUDY} cannot train here; nothing was started."
            )
        limit_gpu_jobs()
    settle_in()
    if trains:
        say(f"plan {STUDY}")


def settle_in():
    """Keep other workflows away; tidy up and remember what this one needs."""
    or_stop(occupy, STUDY)
    # Files as large as the images, of preparations that were killed.
    remove_leftovers(Path(RESULTS) / "data")
    if DIGEST and Path(IMAGES).exists():
        remember_digest(IMAGES, DIGEST, DIGEST_MEMORY)


def limit_gpu_jobs():
    """One GPU job at a time where no number is given; tell when cards are too few."""
    if "gpu" not in SLOTS:
        logger.info("No number of GPUs is given: one GPU job at a time.")
        workflow.register_resource("gpu", 1)
    if message := or_stop(slots_message, SLOTS.get("gpu", 1)):
        logger.info(message)


def end_after_failure():
    """Report what there is; the next call goes on with what failed."""
    if any(Path(RESULTS).glob("runs/*/*/status.json")):
        logger.info("Some jobs failed. Reporting what there is.")
        say(f"report {STUDY}")
