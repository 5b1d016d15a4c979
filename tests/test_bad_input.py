"""Malformed input: one clear message, a status that is not 0, and nothing else."""

import hashlib
import json
import re
import shlex
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from bad_commands import BAD_COMMANDS, SNAKEMAKE
from bad_configurations import BAD_CONFIGURATIONS
from bad_images import BAD_IMAGES, PAGE
from bad_results import BAD_RESULTS
from breaking import Bad
from conftest import TINY, run_snakemake, write_study
from finished_project import call, make_project, run_verb
from odd_input import ODD, ODD_ENVIRONMENTS, Odd

pytestmark = pytest.mark.timeout(120)
IN_PROCESS = [*BAD_CONFIGURATIONS, *BAD_IMAGES, *BAD_RESULTS, *BAD_COMMANDS]
PYTHON = re.compile(
    r"Traceback|object at 0x|<class |PosixPath|dtype\(|\w+(Error|Exception): "
)
MADE_BY_LOOKING = {"logs", ".snakemake", "__pycache__", "lock", ".lock"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a finished study."""
    return make_project(tmp_path_factory.mktemp("finished") / "project")


@pytest.fixture
def project(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A copy of the finished project, in which the command is run."""
    place = tmp_path / "project"
    shutil.copytree(finished, place)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("REATTN_ROOT", raising=False)
    monkeypatch.chdir(place)
    yield place
    left = {path.name for path in (tmp_path / "temporary").iterdir()}
    # torch makes this folder whenever its compiler's settings are first looked at.
    assert {name for name in left if not name.startswith("torchinductor_")} == set()


class Server(BaseHTTPRequestHandler):
    """Answers in the ways in which servers fail."""

    def do_GET(self) -> None:
        """Answer by the last part of the address."""
        getattr(self, self.path.strip("/"))()

    def answer(self, status: int = 200, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def page(self) -> None:
        self.answer(200, PAGE.encode())

    def missing(self) -> None:
        self.answer(404, PAGE.encode())

    def closed(self) -> None:
        self.answer(200, b"\x1f\x8b", Content_Length="1000000")

    def chunks(self) -> None:
        self.protocol_version = "HTTP/1.1"
        self.answer(200, b"zzz\r\n", Transfer_Encoding="chunked")
        self.close_connection = True

    def garbage(self) -> None:
        self.wfile.write(b"no HTTP at all\r\n\r\n")

    def circle(self) -> None:
        self.answer(302, b"", Location=self.path)

    def silence(self) -> None:
        threading.Event().wait(2)

    def other(self) -> None:
        self.answer(200, b"\x1f\x8b\x08" + bytes(500))

    def log_message(self, *message: object) -> None:
        """Nothing is logged."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A web server's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def digests(project: Path) -> dict[str, str]:
    """What every file of a project is; logs, locks, Snakemake's own are not."""
    found = {}
    for path in project.rglob("*"):
        name = path.relative_to(project)
        if MADE_BY_LOOKING & {*name.parts, name.suffix} or path.is_dir():
            continue
        if path.is_file() and not path.is_symlink():
            found[str(name)] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[str(name)] = str(path.lstat().st_ino)
    return found


def require_message(said: str, words: Iterable[str], most: int) -> None:
    """The message has the words, is short, and shows no Python."""
    plain = " ".join(re.sub(r"[│╭╮╰╯─]", " ", said).split())
    for word in words:
        assert word in plain, said
    assert len(plain) < most, said
    assert not PYTHON.search(said), said


@pytest.mark.parametrize("bad", IN_PROCESS, ids=lambda bad: bad.name)
def test_a_verb_tells_what_is_wrong(bad: Bad, project, url, monkeypatch, capfd):
    """Status 2, file, value and fix in a few words; no traceback, no change."""
    monkeypatch.setattr("reattn.data.cifar10_files._TIMEOUT_SECONDS", 0.5)
    bad.breaks(project)
    before = digests(project)
    places = {"project": str(project), "url": url}
    for name, value in bad.environment.items():
        monkeypatch.setenv(name, value.format(**places))
    capfd.readouterr()
    command = [part.format(**places) for part in shlex.split(bad.command)]
    status = call(*command)
    said = capfd.readouterr()
    assert status == 2, said
    stream = said.out if not command else said.err
    words = (word.format(**places) for word in bad.words)
    # Without a verb every verb is listed.
    require_message(stream, words, 1500 if command else 2500)
    assert digests(project) == before


@pytest.mark.parametrize("bad", SNAKEMAKE, ids=lambda bad: bad.name)
def test_snakemake_tells_what_is_wrong(bad: Bad, project):
    """Status 1, file, value and fix; no traceback of ours, no change."""
    bad.breaks(project)
    before = digests(project)
    done = run_snakemake(project, *shlex.split(bad.command)[1:])
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    require_message(said, bad.words, 3000)
    assert digests(project) == before


def made(odd: Odd, project: Path) -> None:
    """What the command makes is there, and no code of a checkpoint was run."""
    assert odd.says.encode() in (project / odd.makes).read_bytes()
    assert not (project / "EXECUTED").exists()


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_what_is_odd_but_sound_works(odd: Odd, project: Path):
    """Case D15, among others: a verb ends well and makes its file all the same."""
    odd.breaks(project)
    (project / odd.makes).unlink(missing_ok=True)
    command = shlex.split(odd.command.format(project=project))
    assert call(*command) == 0
    made(odd, project)


ONE_A_FAMILY = ("resnet18", "learned2d-9h-content", "quadratic-9h-isotropic", "vit")
ONE_A_FAMILY += ("san-pairwise", "ha-san-patchwise")


@pytest.mark.parametrize("variant", ONE_A_FAMILY)
def test_the_last_batch_may_hold_one_image(variant: str, project: Path):
    """In training and in the authors' evaluation, whose statistics are a batch's."""
    numbers = {"epochs": 1, "batch": 32, "epoch_images": 33, "evaluation_images": 65}
    name = write_study(
        project, "last", variants=[variant], training={**TINY["training"], **numbers}
    )
    assert call("prepare", name) == 0
    assert call("train", name, variant) == 0
    status = project / "results" / name / "runs" / variant / "seed0" / "status.json"
    assert json.loads(status.read_text())["status"] == "ok"


@pytest.mark.parametrize("odd", ODD_ENVIRONMENTS, ids=lambda odd: odd.name)
def test_an_odd_environment_is_survived(odd: Odd, project: Path, tmp_path: Path):
    """Cases D16 and D19: no home, no display, no UTF-8, in a path with an accent."""
    place = project.rename(tmp_path / "my pap'er é (1)")
    (place / odd.makes).unlink(missing_ok=True)
    arguments = shlex.split(odd.command.format(project=shlex.quote(str(place))))
    done = run_verb(place, *arguments, **odd.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    made(odd, place)


def test_fonts_are_listed_by_several_processes_at_once(project: Path, tmp_path: Path):
    """The first use of matplotlib writes a cache; four first uses draw all the same."""
    environment = {"MPLCONFIGDIR": str(tmp_path / "temporary" / "fonts")}
    (project / "results/tiny/figures").rename(tmp_path / "figures")
    with ThreadPoolExecutor() as pool:
        jobs = [
            pool.submit(run_verb, project, "charts", "tiny", kind, **environment)
            for kind in ("comparison", "curves", "diagrams", "comparison")
        ]
    for job in jobs:
        assert job.result().returncode == 0, job.result().stderr
    shutil.rmtree(environment["MPLCONFIGDIR"])
