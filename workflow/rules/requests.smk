# What jobs ask of a machine or of a cluster, and which go first.


WORK = {(run.variant_id, run.seed): relative_work(run) for run in RUNS}


def memory_of(wildcards, attempt):
    """MB of the host that a training job asks of a cluster."""
    return memory_request(get_run(wildcards), attempt)


def runtime_of(wildcards, attempt):
    """Minutes that one attempt at a training asks of a cluster."""
    return runtime_request(get_run(wildcards), LIMITS, attempt)


def priority_of(wildcards):
    """Share of the largest training's work: longest first.

    Short jobs then fill what is left at the end, and no core waits for a training
    that began last.
    """
    run = get_run(wildcards)
    return WORK[run.variant_id, run.seed] / max(WORK.values())


def memory_of_any(wildcards, attempt):
    """MB of the host for a job that takes every model in turn."""
    return max(memory_request(run, attempt) for run in RUNS)


def every_core(wildcards):
    """All cores that this call may use, so that no other job runs meanwhile.

    On a cluster the job's own: there a number of cores is not known, or is the node's.
    """
    if workflow.remote_exec or not workflow.local_exec:
        return SETTINGS.training.threads
    return workflow.cores
