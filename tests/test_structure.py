"""The house: which part may import which, and what must stay light."""

import ast
import re
import subprocess
import sys

import pytest
from conftest import ROOT

SOURCE = ROOT / "src" / "reattn"
# A part may import those before it, never those after it.
FLOW = (
    *(
        "errors",
        "files",
        "reasons",
        "processes",
        "allocation",
        "code",
        "config",
        "costs",
        "cards",
        "data",
        "models",
        "training",
    ),
    *("measure", "attention", "figures", "tables", "claims"),
    *("explorer", "report", "cli"),
)
# Parts that go between two others without knowing each other.
SIBLINGS = ({"measure", "attention"}, {"figures", "tables"})


def imports(path) -> set[str]:
    """The parts of reattn that a module imports, anywhere in it."""
    parts = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        parts |= {name.split(".")[1] for name in names if name.startswith("reattn.")}
    return parts


@pytest.mark.parametrize("part", FLOW)
def test_nothing_imports_against_the_flow(part: str):
    """config, data, models, training, measure and attention, figures, report."""
    folder = SOURCE / part
    paths = folder.glob("*.py") if folder.is_dir() else [SOURCE / f"{part}.py"]
    allowed = set(FLOW[: FLOW.index(part) + 1])
    for siblings in SIBLINGS:
        if part in siblings:
            allowed -= siblings - {part}
    for path in paths:
        assert imports(path) <= allowed, path


def test_every_part_has_its_place_in_the_flow():
    """A new folder must be put somewhere."""
    found = {path.stem for path in SOURCE.iterdir() if not path.name.startswith("__")}
    assert found == set(FLOW)


@pytest.mark.parametrize(
    "module",
    [
        *(
            "reattn",
            "reattn.config.runs",
            "reattn.costs.memory",
            "reattn.costs.requests",
            "reattn.cli.main",
        ),
        *("reattn.figures.study", "reattn.figures.charts", "reattn.tables"),
        *("reattn.report.build", "reattn.explorer.study"),
        *("reattn.cli.planning", "reattn.data.preparation"),
    ],
)
def test_what_needs_no_torch_does_not_load_it(module: str):
    """A job that draws a figure or makes a table starts in a moment."""
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_nothing_speaks_of_machines_or_loads_unsafely():
    """No absolute path, no pickles of unknown origin."""
    for path in [*SOURCE.rglob("*.py"), *(ROOT / "workflow").rglob("*.smk")]:
        text = path.read_text()
        assert "weights_only=False" not in text, path
        assert "allow_pickle=True" not in text, path
        assert not re.search(r"[\"'](/home|/root|/work|/tmp)/", text), path


def test_no_worker_process_is_made_for_data():
    """Case D12: without a DataLoader there is no shared memory to run out of."""
    for path in SOURCE.rglob("*.py"):
        assert "DataLoader" not in path.read_text(), path
