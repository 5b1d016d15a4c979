"""A Slurm of one node for tests: real daemons, pretended cards, gone afterwards.

Needs root and Debian's packages slurm-wlm and munge. Everything lies in one folder of
its own. Daemons and their steps run in that folder, and jobs have it in their
environment, so that all can be found and ended. As a program this file waits for the
end of its input, which comes however the test ends, and then ends them.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

DAEMONS = ("munged", "slurmctld", "slurmd")
PREFIX = "reattn-slurm-"
OWNER = "owner.pid"
PATIENCE = 30  # seconds until the node is ready
NULL_DEVICE = os.makedev(1, 3)
CORES, MEMORY = 4, 12_000  # that the node says it has; MB

SLURM_CONF = """
ClusterName=pretended
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=1,sched_interval=2
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
GresTypes=gpu
MinJobAge=3600
KillWait=5
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} Gres=gpu:{cards}
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
# Inside a job Snakemake clears SLURM_CONF; a real cluster needs none.
CLIENTS = ("sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo", "sacct")
CLIENT = """#!/bin/sh
SLURM_CONF={folder}/slurm.conf exec {program} "$@"
"""
CGROUP_CONF = """
CgroupPlugin=cgroup/v1
CgroupAutomount=no
CgroupMountpoint=/sys/fs/cgroup
"""


def why_not() -> str | None:
    """Why no Slurm can be started here, or None."""
    needed = (*DAEMONS, *CLIENTS)
    missing = [name for name in needed if not shutil.which(name, path=_path())]
    if missing:
        return f"{', '.join(missing)} missing: install slurm-wlm and munge"
    return None if os.geteuid() == 0 else "starting Slurm's daemons needs root"


@contextlib.contextmanager
def one_node_slurm(cards: int = 2) -> Iterator[dict[str, str]]:
    """A running Slurm of one node; yields the environment that leads to it.

    Args:
        cards: GPUs that the node says it has: character devices like /dev/null.

    Raises:
        RuntimeError: it does not start; the message holds its logs' ends.
    """
    remove_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    (folder / OWNER).write_text(str(os.getpid()))
    guard = subprocess.Popen([sys.executable, __file__, folder], stdin=subprocess.PIPE)
    environment = {
        "SLURM_CONF": str(folder / "slurm.conf"),
        "PATH": f"{folder}/bin{os.pathsep}{_path()}",
    }
    try:
        _write_settings(folder, cards)
        _start(folder, environment)
        yield environment
    finally:
        guard.communicate()


def remove_leftovers() -> None:
    """End what a killed test left running."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = folder / OWNER
        if not (owner.exists() and psutil.pid_exists(int(owner.read_text()))):
            _remove(folder)


def processes_of(folder: Path) -> list[psutil.Process]:
    """Daemons, steps and jobs: what runs in this folder or with its slurm.conf."""
    settings = str(folder / "slurm.conf")
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            inside = Path(process.cwd()).is_relative_to(folder)
            if inside or process.environ().get("SLURM_CONF") == settings:
                found.append(process)
    return found


def _path() -> str:
    """As in an activated environment, and where daemons lie."""
    own = str(Path(sys.executable).parent)
    return os.pathsep.join([own, os.environ["PATH"], "/usr/sbin", "/sbin"])


def _write_settings(folder: Path, cards: int) -> None:
    folder.chmod(0o755)  # munge refuses a folder that others cannot search
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir()
    for name in CLIENTS:
        client = folder / "bin" / name
        client.write_text(CLIENT.format(folder=folder, program=shutil.which(name)))
        client.chmod(0o755)
    devices = [folder / f"card{number}" for number in range(cards)]
    for device in devices:
        os.mknod(device, 0o666 | 0o020000, NULL_DEVICE)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    (folder / "cgroup.conf").write_text(CGROUP_CONF)
    lines = [f"Name=gpu File={device}" for device in devices]
    (folder / "gres.conf").write_text("\n".join([*lines, ""]))
    ports = _free_ports(2)
    settings = SLURM_CONF.format(
        host=socket.gethostname().split(".")[0],
        folder=folder,
        controller_port=ports[0],
        node_port=ports[1],
        cores=CORES,
        memory=MEMORY,
        cards=cards,
    )
    (folder / "slurm.conf").write_text(settings)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _start(folder: Path, environment: dict[str, str]) -> None:
    munge = [
        *("munged", "--force", f"--socket={folder}/munge.socket"),
        *(f"--key-file={folder}/munge.key", f"--pid-file={folder}/munged.pid"),
        *(f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"),
    ]
    for command in (munge, ["slurmctld"], ["slurmd"]):
        done = subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{command[0]}: {done.stderr}{_logs(folder)}")
    _wait_until_idle(folder, environment)


def _wait_until_idle(folder: Path, environment: dict[str, str]) -> None:
    started, state = time.monotonic(), ""
    while time.monotonic() - started < PATIENCE:
        asked = ["sinfo", "--noheader", "--format=%T"]
        state = subprocess.run(
            asked, env=os.environ | environment, capture_output=True, text=True
        ).stdout.strip()
        if state == "idle":
            return
        time.sleep(0.2)
    raise RuntimeError(f"the node is {state or 'unknown'}, not idle{_logs(folder)}")


def _logs(folder: Path) -> str:
    ends = [log.read_text()[-1500:] for log in sorted(folder.glob("*.log"))]
    return "\n".join(["", *ends])


def _remove(folder: Path) -> None:
    """Kill all of it, as often as something new has started meanwhile."""
    for _ in range(5):
        processes = processes_of(folder)
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if not processes:
            break
        psutil.wait_procs(processes, timeout=5)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the test's own end is what counts
    sys.stdin.read()
    _remove(Path(sys.argv[1]))
