"""Every GPU job owns a card: which are visible, how one is held, and when it is free.

The cards are pretended, or those of a driver that answers as NVIDIA's library does.
The processes, locks and signals are real.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from conftest import ROOT, TINY, require, run_snakemake, write_study
from hypothesis import given
from hypothesis import strategies as st

from reattn.cards import Card, leases, slots_message, visible, visible_cards
from reattn.cards.locks import Lock, TakenError
from reattn.config import load_resolved
from reattn.config.paths import data_folder
from reattn.config.runs import find_run
from reattn.data import prepare
from reattn.errors import DeviceError
from reattn.training import devices

LONG = 60  # seconds after which something that should end has not

# Holds a card for a while, and writes when from and until when.
HOLDER = """
import json, os, sys, time
from reattn.cards import hold_card
hold_card()
def say(what):
    card = os.environ["CUDA_VISIBLE_DEVICES"]
    with open(sys.argv[1], "a") as file:
        file.write(json.dumps([os.getpid(), what, card, time.monotonic()]) + "\\n")
say("start")
time.sleep(float(sys.argv[2]))
say("end")
"""

# Becomes another user, who may not read root's Python: what is needed is loaded first.
AS_NOBODY = """
import json, os, tempfile, reattn.cards
from pathlib import Path
from reattn.cards.locks import Lock
with tempfile.TemporaryDirectory() as folder:
    Lock.take(Path(folder) / "first").release()
os.umask(0o077)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
"""


@pytest.fixture
def holding(tmp_path, monkeypatch):
    """This process and its children lease pretended cards in a folder of their own."""
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REATTN_LEASES", str(tmp_path / "leases"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setattr(leases, "_leases", [])

    def pretend(*cards: str) -> None:
        monkeypatch.setenv("REATTN_PRETENDED_CARDS", ",".join(cards))

    yield pretend
    for lease in leases._leases:
        lease.lock.release()


@pytest.fixture
def start():
    """Start Python processes; what is left of them is ended after the test."""
    processes = []

    def run(code: str, *arguments: object, **more: object) -> subprocess.Popen:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        processes.append(subprocess.Popen(command, text=True, **more))
        return processes[-1]

    yield run
    for process in processes:
        process.kill()
        process.wait()


def holds_of(record: Path) -> list[tuple[str, float, float]]:
    """Card, start and end of every hold; all holds ended."""
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    starts = {pid: (card, at) for pid, what, card, at in lines if what == "start"}
    ends = {pid: at for pid, what, _, at in lines if what == "end"}
    assert starts.keys() == ends.keys()
    return [(card, at, ends[pid]) for pid, (card, at) in starts.items()]


def assert_no_card_is_shared(holds: list[tuple[str, float, float]]) -> None:
    """No two holds that overlap are of one card."""
    for place, (card, start, end) in enumerate(holds):
        for other, other_start, other_end in holds[:place]:
            overlap = start < other_end and other_start < end
            assert not (overlap and card == other), holds


def at_once(holds: list[tuple[str, float, float]]) -> int:
    """The most holds that overlap."""
    return max(sum(s <= start < e for _, s, e in holds) for _, start, _ in holds)


def wait_for(condition) -> None:
    """Wait until something holds, generously."""
    deadline = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def is_free(name: str) -> bool:
    """Whether another process could hold a card now."""
    folder = Path(os.environ["REATTN_LEASES"])
    folder.mkdir(exist_ok=True)
    try:
        Lock.take(folder / f"{name}.lock").release()
    except TakenError:
        return False
    return True


def open_to_others(folder: Path) -> None:
    """Let every user into a test's folder."""
    for part in (folder, *folder.parents[:2]):
        part.chmod(0o755)


# ---------------------------------------------------------------- jobs own cards

SNAKEFILE = """
import shlex, sys
rule all:
    input: expand("done/{{n}}", n=range(8))
rule job:
    output: touch("done/{{n}}")
    params: python=sys.executable
    resources: gpu=1
    shell: "{{params.python:q}} {holder} {record} 2"
"""


def test_the_jobs_of_a_workflow_own_different_cards(holding, tmp_path):
    """Case D01: 8 jobs, 4 at once; none shares a card, all 4 are used, none waits."""
    holding("a", "b", "c", "d")
    (tmp_path / "holder.py").write_text(HOLDER)
    rules = SNAKEFILE.format(holder="holder.py", record="record")
    (tmp_path / "Snakefile").write_text(rules)
    done = run_snakemake(tmp_path, "--cores", "8", "--resources", "gpu=4")
    assert done.returncode == 0, done.stdout + done.stderr
    holds = holds_of(tmp_path / "record")
    assert len(holds) == 8
    assert_no_card_is_shared(holds)
    assert {card for card, _, _ in holds} == {"a", "b", "c", "d"}
    assert at_once(holds) > 1


def test_more_jobs_than_cards_wait_and_two_workflows_respect_each_other(
    holding, start, tmp_path
):
    """Case D01: 8 processes of two folders and 2 cards: a freed card is taken."""
    holding("a", "b")
    record = tmp_path / "record"
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    processes = [
        start(HOLDER, record, 0.5, cwd=tmp_path / folder)
        for folder in ("one", "two") * 4
    ]
    assert [process.wait(LONG) for process in processes] == [0] * 8
    holds = holds_of(record)
    assert_no_card_is_shared(holds)
    assert {card for card, _, _ in holds} == {"a", "b"}


def test_a_killed_holder_frees_its_card(holding, start, tmp_path):
    """SIGKILL runs nothing of the process: the kernel frees the card."""
    holding("a")
    record = tmp_path / "record"
    first = start(HOLDER, record, 600)
    wait_for(record.exists)
    second = start(HOLDER, record, 0)
    assert not is_free("a")
    first.send_signal(signal.SIGKILL)
    assert second.wait(LONG) == 0


@pytest.mark.parametrize(
    "leave_a_child",
    [
        "subprocess.Popen(['sleep', '600'])",
        "subprocess.Popen(['sleep', '600'], close_fds=False)",
        "os.fork() or time.sleep(600)",
    ],
)
def test_a_child_that_outlives_its_parent_holds_no_card(
    holding, start, tmp_path, leave_a_child
):
    """A tracker's background process does not keep a card after the training."""
    holding("a")
    record = tmp_path / "record"
    code = f"import subprocess\n{HOLDER}".replace("say('end')", "")
    code = code.replace('say("start")', f"{leave_a_child}\nsay('start')")
    parent = start(code, record, 600, start_new_session=True)
    try:
        wait_for(record.exists)
        assert not is_free("a")
        parent.kill()
        parent.wait()
        wait_for(lambda: is_free("a"))
        os.killpg(parent.pid, 0)  # the child is still there
    finally:
        os.killpg(parent.pid, signal.SIGKILL)


def test_a_deleted_lock_file_frees_nothing(holding, start, tmp_path):
    """Cleaners of temporary folders delete old files; the card stays held."""
    holding("a")
    record = tmp_path / "record"
    first = start(HOLDER, record, 600)
    wait_for(record.exists)
    (tmp_path / "leases" / "a.lock").unlink()
    assert not is_free("a")
    assert not is_free("a")  # the file that the first look made changes nothing
    first.kill()
    wait_for(lambda: is_free("a"))


def test_a_file_deleted_while_it_is_locked_is_not_a_lock(
    holding, tmp_path, monkeypatch
):
    """Two files of one name, one of them deleted, must not be two locks."""
    path = tmp_path / "a.lock"
    monkeypatch.setattr("reattn.cards.locks._name_in_kernel", lambda key: None)
    real = os.path.samestat

    def deleted_meanwhile(one, other):
        path.unlink()
        path.touch()
        return real(one, path.lstat())

    monkeypatch.setattr(os.path, "samestat", deleted_meanwhile)
    with pytest.raises(TakenError):
        Lock.take(path)
    monkeypatch.undo()
    Lock.take(path).release()


def test_a_lock_file_that_is_a_link_changes_no_other_file(holding, tmp_path):
    """In a folder that all may write, somebody may have put a link there."""
    holding("a")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    victim.chmod(0o600)
    (tmp_path / "leases").mkdir()
    (tmp_path / "leases" / "a.lock").symlink_to(victim)
    with pytest.raises(DeviceError, match="REATTN_LEASES"):
        leases.hold_card()
    assert victim.read_text() == "precious"
    assert victim.stat().st_mode & 0o777 == 0o600


def test_who_waits_says_so_now_and_then(monkeypatch, caplog):
    """A log that grows every second hides what matters; a silent one puzzles."""
    now = iter(range(0, 10_000, 100))
    clock = SimpleNamespace(monotonic=lambda: next(now), sleep=lambda seconds: None)
    monkeypatch.setattr(leases, "time", clock)
    with caplog.at_level("INFO"):
        looks = leases._looks([Card("a", "pretended card", None, pretended=True)])
        for _ in range(9):
            next(looks)
    first, *later = caplog.messages
    assert first == "waiting for a card: all that are visible are held (a)"
    assert later == ["still waiting for a card, 8 minutes"]


def test_repeated_calls_return_the_same_card(holding):
    """The card of a process is one, and CUDA is told before it starts."""
    holding("a", "b")
    card = leases.hold_card()
    assert leases.hold_card() is card
    assert leases.held() is card
    assert os.environ["CUDA_VISIBLE_DEVICES"] == card.id == "a"
    assert [card.id for card in leases.eligible_cards()] == ["a", "b"]
    assert [card.id for card in visible_cards()] == ["a"]
    assert is_free("b")


def test_other_users_share_the_folder(holding, start, tmp_path):
    """Made by one user under a strict umask, used by another."""
    require(os.geteuid() == 0, "only root can be two users")
    holding("a")
    open_to_others(tmp_path)
    record = tmp_path / "record"
    record.touch()
    record.chmod(0o666)
    first = start(HOLDER, record, 600, umask=0o077)
    wait_for(lambda: record.read_text())
    folder = tmp_path / "leases"
    assert folder.stat().st_mode & 0o7777 == 0o777
    assert (folder / "a.lock").stat().st_mode & 0o777 == 0o666
    if start(AS_NOBODY + "import reattn.cards").wait(LONG):
        pytest.skip("another user may not read this project")
    second = start(AS_NOBODY + HOLDER, record, 0)
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(1)
    first.kill()
    assert second.wait(LONG) == 0


@pytest.mark.parametrize("kind", ["a file", "below a file", "not ours to write"])
def test_an_unusable_folder_is_named(holding, start, tmp_path, monkeypatch, kind):
    """The message names the folder and the variable that chooses another."""
    holding("a")
    (tmp_path / "file").touch()
    folder = {"a file": "file", "below a file": "file/leases"}.get(kind, "closed")
    user = ""
    if folder == "closed":
        require(os.geteuid() == 0, "only root can be another user")
        open_to_others(tmp_path)
        (tmp_path / folder).mkdir(mode=0o755)
        user = AS_NOBODY
    monkeypatch.setenv("REATTN_LEASES", str(tmp_path / folder))
    code = user + (
        "from reattn.cards import hold_card\nfrom reattn.errors import DeviceError\n"
        "try:\n    hold_card()\nexcept DeviceError as fault:\n    print(fault)"
    )
    said = start(code, stdout=subprocess.PIPE).communicate(timeout=LONG)[0]
    assert str(tmp_path / folder) in said
    assert "REATTN_LEASES" in said


def test_the_shared_folder_is_not_that_of_one_user_or_job(monkeypatch, tmp_path):
    """TMPDIR differs between users and jobs, who must meet in one folder."""
    before = leases._temporary_folder()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert leases._temporary_folder() == before != tmp_path


# ---------------------------------------------------------------- which are visible

REAL = [
    ("GPU-1aaaaaaa-0000-0000-0000-000000000000", "NVIDIA L4"),
    ("GPU-1bbbbbbb-0000-0000-0000-000000000000", "NVIDIA L4"),
    ("GPU-2ccccccc-0000-0000-0000-000000000000", "NVIDIA L4"),
    ("GPU-3ddddddd-0000-0000-0000-000000000000", "NVIDIA L4"),
]
MIXED = [(REAL[0][0], "NVIDIA L4"), (REAL[1][0], "NVIDIA T4")]
SPLIT = [
    ("MIG-1aaaaaaa-0000-0000-0000-000000000000", "NVIDIA A100 MIG 1g.5gb"),
    ("MIG-1bbbbbbb-0000-0000-0000-000000000000", "NVIDIA A100 MIG 1g.5gb"),
]


def cards_of(machine) -> list[Card]:
    return [Card(id_, name, 24 * 2**30) for id_, name in machine]


def chosen(value: str | None, machine, monkeypatch, order: str | None = None):
    """The places, in a machine's list, of the cards that are visible."""
    monkeypatch.delenv("REATTN_PRETENDED_CARDS", raising=False)
    for name, content in (
        ("CUDA_VISIBLE_DEVICES", value),
        ("CUDA_DEVICE_ORDER", order),
    ):
        if content is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, content)
    cards = cards_of(machine)
    monkeypatch.setattr(visible, "driver_cards", lambda: cards)
    return [cards.index(card) for card in visible_cards()]


@pytest.mark.parametrize(
    ("value", "places"),
    [
        (None, [0, 1, 2, 3]),
        ("", []),
        ("  ", []),
        ("-1", []),
        ("NoDevFiles", []),  # what Slurm says to a job without a card
        ("none", []),
        ("0", [0]),
        ("2,0", [2, 0]),
        (" 3 , 1 ", [3, 1]),
        ("0,1,2,3", [0, 1, 2, 3]),
        ("+1", [1]),
        ("1gpu,2gpu", [1, 2]),  # CUDA reads the number that an entry begins with
        ("4", []),
        ("0,4,1", [0]),
        ("0,2,-1,1", [0, 2]),  # NVIDIA's own example
        ("-1,0", []),
        ("0,,1", [0]),
        ("0,x,1", [0]),
        ("1,1", []),  # a card named twice hides all
        ("99999999999999999999", []),
        (REAL[1][0], [1]),
        (f"{REAL[3][0]},{REAL[0][0]}", [3, 0]),
        ("GPU-2", [2]),
        ("GPU-1b,GPU-1a", [1, 0]),
        ("GPU-1", []),  # two cards begin so
        ("GPU-3,GPU-1,GPU-2", [3]),
        ("GPU-9,GPU-2", []),
        ("GPU-2,GPU-2c", []),
        ("GPU-2,0", [2]),
        ("0,GPU-2", [0]),
        ("2ccccccc", [2]),  # the number 2, not the beginning of a UUID
        ("MIG-1aaaaaaa", []),
    ],
)
def test_the_variable_is_read_as_cuda_reads_it(monkeypatch, value, places):
    """Numbers, UUIDs and their beginnings; what is invalid hides all after it."""
    assert chosen(value, REAL, monkeypatch) == places


@pytest.mark.parametrize(
    ("value", "places"),
    [
        (None, [0, 1]),
        ("MIG-1bbbbbbb-0000-0000-0000-000000000000", [1]),
        ("MIG-1b,MIG-1a", [1, 0]),
        ("MIG-1", []),
        ("", []),
    ],
)
def test_instances_of_a_split_card_are_cards(monkeypatch, value, places):
    """Each instance has a UUID of its own, which CUDA takes."""
    assert chosen(value, SPLIT, monkeypatch) == places


def test_numbers_of_split_cards_are_refused(monkeypatch):
    """CUDA shows one instance a number: which one, no number tells."""
    with pytest.raises(DeviceError, match=r"MIG mode.*MIG-1aaaaaaa"):
        chosen("0", SPLIT, monkeypatch)
    assert chosen("0", SPLIT[:1], monkeypatch) == [0]


def test_numbers_among_different_models_need_an_order(monkeypatch):
    """CUDA sorts different models by a guess that nobody else can repeat."""
    with pytest.raises(DeviceError, match="CUDA_DEVICE_ORDER=PCI_BUS_ID"):
        chosen("1", MIXED, monkeypatch)
    assert chosen("1", MIXED, monkeypatch, order="PCI_BUS_ID") == [1]
    assert chosen("GPU-1b", MIXED, monkeypatch) == [1]
    assert chosen("7", MIXED, monkeypatch) == []
    assert sorted(chosen("1,0", MIXED, monkeypatch)) == [0, 1]
    assert chosen(None, MIXED, monkeypatch) == [0, 1]


@given(st.text(alphabet="0123-+ ,GPU1abx", max_size=12))
def test_whatever_the_variable_holds_no_card_is_invented(value):
    """Only cards of the machine, none twice, and only as many as are named."""
    cards = cards_of(REAL)
    found = visible._chosen(value, cards)
    assert set(found) <= set(cards)
    assert len(set(found)) == len(found) <= len(value.split(","))


@given(
    st.permutations(range(4)),
    st.integers(0, 4),
    st.sampled_from(["-1", "4", "x", "", "GPU-zz"]),
    st.booleans(),
)
def test_an_invalid_entry_hides_itself_and_all_after_it(order, place, bad, by_uuid):
    """For every list of cards, every place and every kind of invalid entry."""
    names = [REAL[n][0] if by_uuid else str(n) for n in order]
    names.insert(place, bad)
    cards = cards_of(REAL)
    found = visible._chosen(",".join(names), cards)
    assert found == [cards[n] for n in order[:place]]


@pytest.mark.parametrize(
    ("value", "ids"),
    [(None, ["a", "b", "c"]), ("b", ["b"]), ("2,0", ["c", "a"]), ("", []), ("d", [])],
)
def test_pretended_cards_are_restricted_in_the_same_way(
    holding, monkeypatch, value, ids
):
    """By number or by name, as a job of a cluster sees them."""
    holding("a", "b", "c")
    if value is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert [card.id for card in visible_cards()] == ids
    assert all(card.pretended for card in visible_cards())


@pytest.mark.parametrize("names", [("a", "a"), ("a", ""), ("0", "1")])
def test_pretended_cards_must_be_told_apart(holding, names):
    """A slip in the variable is said, not guessed away."""
    holding(*names)
    with pytest.raises(DeviceError, match="REATTN_PRETENDED_CARDS"):
        visible_cards()


class FakeLibrary:
    """Answers as NVIDIA's library does, for one card, a split one and a lost one."""

    NVML_DEVICE_MIG_ENABLE = 1

    class NVMLError(Exception):
        """What its functions raise."""

    CARDS = (
        ("00000000:C1:00.0", "GPU-split", "NVIDIA A100", None),
        None,
        ("00000000:0A:00.0", "GPU-whole", "NVIDIA L4", 24 * 2**30),
    )
    INSTANCES = (("MIG-x", "NVIDIA A100 MIG 1g.5gb", 5 * 2**30), None)

    def __init__(self, *, driver: bool = True):
        self.driver = driver
        self.open = False

    def nvmlInit(self):  # noqa: N802
        if not self.driver:
            raise self.NVMLError
        self.open = True

    def nvmlShutdown(self):  # noqa: N802
        self.open = False

    def nvmlDeviceGetCount(self):  # noqa: N802
        return len(self.CARDS)

    def _or_fault(self, answer):
        if answer is None:
            raise self.NVMLError
        return answer

    def nvmlDeviceGetHandleByIndex(self, index):  # noqa: N802
        return self._or_fault(self.CARDS[index])[1:]

    def nvmlDeviceGetPciInfo(self, handle):  # noqa: N802
        buses = {card[1]: card[0] for card in self.CARDS if card}
        return SimpleNamespace(busId=buses[handle[0]])

    def nvmlDeviceGetMigMode(self, handle):  # noqa: N802
        self._or_fault(None if handle[0] == "GPU-whole" else handle)
        return [1, 1]

    def nvmlDeviceGetMaxMigDeviceCount(self, handle):  # noqa: N802
        return len(self.INSTANCES)

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle, index):  # noqa: N802
        return self._or_fault(self.INSTANCES[index])

    def nvmlDeviceGetUUID(self, handle):  # noqa: N802
        return handle[0]

    def nvmlDeviceGetName(self, handle):  # noqa: N802
        return handle[1]

    def nvmlDeviceGetMemoryInfo(self, handle):  # noqa: N802
        return SimpleNamespace(total=self._or_fault(handle[2]))


def test_the_driver_is_asked_for_cards_and_instances(monkeypatch):
    """By address; a split card is its instances; what cannot be asked is left out."""
    library = FakeLibrary()
    monkeypatch.setitem(sys.modules, "pynvml", library)
    assert visible.driver_cards() == [
        Card("GPU-whole", "NVIDIA L4", 24 * 2**30),
        Card("MIG-x", "NVIDIA A100 MIG 1g.5gb", 5 * 2**30),
    ]
    assert not library.open


def test_without_a_driver_there_are_no_cards(monkeypatch):
    """A laptop without a GPU is no fault."""
    monkeypatch.setitem(sys.modules, "pynvml", FakeLibrary(driver=False))
    assert visible.driver_cards() == []


def test_the_library_of_the_fake_is_that_of_nvidia():
    """The fake has no function that the real library lacks."""
    import pynvml

    names = [name for name in vars(FakeLibrary) if name.lower().startswith("nvml")]
    assert len(names) > 10
    for name in names:
        assert hasattr(pynvml, name), name


# ---------------------------------------------------------------- Slurm


def test_a_card_that_slurm_has_chosen_is_left_alone(holding, start, monkeypatch):
    """The variable stays as Slurm set it, and no other job is waited for."""
    holding("a", "b")
    record = Path(os.environ["REATTN_LEASES"]).parent / "record"
    start(HOLDER, record, 600)
    wait_for(record.exists)
    assert not is_free("a")
    monkeypatch.setattr(leases, "_looks", lambda cards: [None])  # never wait
    monkeypatch.setenv("REATTN_LEASES", "/proc/none")  # nor is the folder needed
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert leases.hold_card().id == "a"
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0"


def test_the_processes_of_one_slurm_job_still_share_no_card(
    holding, start, tmp_path, monkeypatch
):
    """Snakemake inside salloc with one card, and two GPU jobs at once."""
    holding("a")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    record = tmp_path / "record"
    processes = [start(HOLDER, record, 0.3) for _ in range(3)]
    assert [process.wait(LONG) for process in processes] == [0] * 3
    assert_no_card_is_shared(holds_of(record))


def test_several_cards_of_one_slurm_job_are_leased(holding, monkeypatch):
    """Snakemake inside salloc with two cards: each job takes one of them."""
    holding("a", "b", "c")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,1")
    assert leases.hold_card().id == "c"
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "c"
    assert not is_free("c")


# ---------------------------------------------------------------- slots


@pytest.mark.parametrize(
    ("asked", "cards", "message"),
    [
        (1, ("a",), None),
        (2, ("a", "b"), None),
        (4, ("a", "b"), "gpu=4 asked, 2 cards visible: 2 trainings at a time"),
        (2, ("a",), "gpu=2 asked, 1 card visible: 1 training at a time"),
    ],
)
def test_more_slots_than_cards_are_said(holding, asked, cards, message):
    """What is asked and what is there, before anything starts."""
    holding(*cards)
    said = slots_message(asked)
    assert said is None if message is None else said.startswith(message)


def test_without_a_card_nothing_is_said_of_slots(holding, monkeypatch):
    """check-gpu has said what matters then."""
    holding("a")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert slots_message(4) is None


# ---------------------------------------------------------------- the device of a run


def gpu_study(project: Path) -> str:
    training = {**TINY["training"], "device": "gpu", "epochs": 1}
    name = write_study(project, variants=["vit"], training=training)
    prepare(load_resolved(name)[0].data, data_folder(name), None)
    return name


def verb(*arguments: str) -> subprocess.CompletedProcess:
    """A verb of the command line, in a process of its own."""
    command = [sys.executable, "-m", "reattn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_a_gpu_study_on_a_pretended_card_says_so(holding, project, monkeypatch):
    """Trained on the CPU, and no reader takes it for a card; attention needs none."""
    holding("a", "b")
    name = gpu_study(project)
    done = verb("train", name, "vit")
    assert done.returncode == 0, done.stderr
    run = find_run(name, "vit", 0)
    metrics = json.loads((run.folder / "metrics.json").read_text())
    assert metrics["status"] == "ok"
    assert metrics["device"].endswith(", in place of the pretended card a")

    from reattn.attention.study import save_attention

    monkeypatch.setattr(devices, "hold_card", lambda: pytest.fail("took a card"))
    save_attention(name, "vit")


def test_measuring_holds_its_card_alone(holding, project, monkeypatch):
    """Nobody else's work is on the card while its times are taken."""
    from reattn.measure import study as measuring

    holding("a")
    name = gpu_study(project)
    seen = {}

    def measure(*_, device: str, **__):
        seen.update(device=device, free=is_free("a"), held=leases.held().id)

    monkeypatch.setattr(measuring, "measure_study", measure)
    measuring.measure_configured_study(name)
    assert seen == {"device": "cpu", "free": False, "held": "a"}


def gpu_settings():
    return SimpleNamespace(device="gpu", threads=1, precision="fp32")


def test_a_cpu_study_takes_no_card(holding, monkeypatch):
    """The cards of a server stay free for those who compute on them."""
    holding("a")
    monkeypatch.setattr(devices, "hold_card", lambda: pytest.fail("took a card"))
    settings = SimpleNamespace(device="cpu", threads=1, precision="fp32")
    assert devices.use_device(settings) == torch.device("cpu")


def test_cuda_that_is_already_started_is_refused(holding, monkeypatch):
    """It has read the variable before the lease, and may be on another's card."""
    holding("a")
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    with pytest.raises(DeviceError, match="CUDA was started before"):
        devices.use_device(gpu_settings())
    assert leases.held() is None


def cuda_that_sees(count: int, monkeypatch, init=lambda: None) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "init", init)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)


@pytest.fixture
def two_real(holding, monkeypatch):
    """A machine with two cards of its own."""
    monkeypatch.delenv("REATTN_PRETENDED_CARDS", raising=False)
    monkeypatch.setattr(visible, "driver_cards", lambda: cards_of(REAL[:2]))


def test_torch_gets_the_card_that_is_held(two_real, monkeypatch):
    """The first device of the process is the one that the variable names."""
    cuda_that_sees(1, monkeypatch)
    assert devices.use_device(gpu_settings()) == torch.device("cuda", 0)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == REAL[0][0]


def test_cards_that_cuda_counted_before_the_lease_are_refused(two_real, monkeypatch):
    """It would use its first one, whichever is held."""
    cuda_that_sees(2, monkeypatch)
    with pytest.raises(DeviceError, match=f"2 cards and not {REAL[0][0]} alone"):
        devices.use_device(gpu_settings())


def test_a_card_that_cuda_cannot_start_is_named(two_real, monkeypatch):
    """One sentence in place of CUDA's several, and the card that it is about."""

    def fail():
        raise RuntimeError("CUDA error: all devices are busy\nCompile with ...")

    cuda_that_sees(1, monkeypatch, fail)
    with pytest.raises(DeviceError, match=r"GPU-1aaaaaaa.*devices are busy$"):
        devices.use_device(gpu_settings())


def test_check_gpu_lists_cards_and_takes_none(holding):
    """Pretended ones are marked."""
    holding("a", "b")
    done = verb("check-gpu")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "card a: pretended, the CPU computes in its place",
        "card b: pretended, the CPU computes in its place",
    ]
    assert not Path(os.environ["REATTN_LEASES"]).exists()


def test_check_gpu_tells_that_the_variable_hides_every_card(holding, monkeypatch):
    """A card that is there and hidden is not a missing driver."""
    holding("a", "b")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    done = verb("check-gpu")
    assert done.returncode == 2
    said = "CUDA_VISIBLE_DEVICES: '-1', which names no card of this machine (a, b)"
    assert said in done.stderr
