"""Prints what the Slurm plugin would submit for every job, and submits nothing.

Run in a project's folder with Snakemake's own options: one JSON object a line, with the
rule, its wildcards and priority, whether it runs on the submit host, and the options
that the plugin's own functions make for sbatch and for the srun inside the job. Needs
no Slurm.
"""

import json
import sys
from typing import Any

from snakemake.cli import main
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake_executor_plugin_slurm.submit_string import get_submit_command
from snakemake_executor_plugin_slurm.utils import set_gres_string
from snakemake_executor_plugin_slurm.validation import validate_slurm_extra
from snakemake_executor_plugin_slurm_jobstep import get_gpu_setting


def submission(job: Any) -> dict[str, Any]:
    """What is submitted for a job."""
    validate_slurm_extra(job)
    options = {"slurm_account": "-A", "slurm_partition": "-p"}
    given = {key: job.resources.get(key) for key in options}
    account, partition = (
        f"{options[key]} {value}" if value else "" for key, value in given.items()
    )
    names = {
        "run_uuid": "name",
        "slurm_logfile": "log",
        "comment_str": "comment",
        "account": account,
        "partition": partition,
        "workdir": None,
    }
    return {
        "rule": job.rule.name,
        "wildcards": job.wildcards_dict,
        "priority": job.priority,
        "local": job.dag.workflow.is_local(job.rule),
        "sbatch": get_submit_command(job, names) + set_gres_string(job),
        "srun": get_gpu_setting(job),
    }


def print_and_end(_: JobScheduler, workflow: Any, *others: Any) -> None:
    """In place of the scheduler: what it would be given, and no more."""
    for job in workflow.dag.needrun_jobs():
        print(json.dumps(submission(job)))
    sys.exit()


JobScheduler.__init__ = print_and_end
main(sys.argv[1:])
