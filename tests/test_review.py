"""What the reviewers of the original report ran into, each as a test on the demo."""

import itertools
import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from finished_project import call

from reattn.config import load_resolved, load_variants
from reattn.files import sha256_of

REPORT = [name for name, v in load_variants().items() if v.group == "report"]
DEMO = [*load_resolved("demo")[1]]
VERBS = ("train", "evaluate", "attention", "figures")


@pytest.fixture(scope="module")
def again(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the finished demo, in which verbs are run by hand."""
    place = tmp_path_factory.mktemp("again") / "project"
    ignored = shutil.ignore_patterns(".snakemake", "logs", "report")
    shutil.copytree(demo, place, ignore=ignored)
    return place


def files_of(project: Path, variant: str) -> dict[str, str]:
    """Digests of what the verbs make of a variant, times apart."""
    results = project / "results" / "demo"
    run = results / "runs" / variant / "seed0"
    paths = [
        *(results / "figures" / "attention" / variant).iterdir(),
        *(run / name for name in ("history.csv", "predictions.npz", "status.json")),
        results / "attention" / f"{variant}.npz",
    ]
    return {
        str(path.relative_to(results)): sha256_of(path)
        for path in paths
        if not path.name.startswith(".")
    }


@pytest.mark.parametrize("variant", REPORT)
def test_every_verb_takes_every_variant(
    variant: str, demo: Path, again: Path, monkeypatch, capsys
):
    """Case R4: the same verbs and options, and the files that the workflow made."""
    monkeypatch.chdir(again)
    monkeypatch.delenv("REATTN_ROOT", raising=False)
    for verb in VERBS:
        seed = ("--seed", "0") if verb in ("train", "evaluate") else ()
        assert call(verb, "demo", variant, *seed) == 0, verb
    metrics = again / "results/demo/runs" / variant / "seed0" / "metrics.json"
    accuracy = json.loads(metrics.read_text())["accuracy"]
    assert f"{accuracy:.2f} %" in capsys.readouterr().out.splitlines()
    assert files_of(again, variant) == files_of(demo, variant)


def test_verbs_of_a_whole_study_need_no_variant(again: Path, monkeypatch):
    """Case R4: data, measurements, tables and charts come in one call each."""
    monkeypatch.chdir(again)
    monkeypatch.delenv("REATTN_ROOT", raising=False)
    facts = again / "results/demo/data/data.json"
    before = facts.read_bytes()
    kinds = ("diagrams", "curves", "comparison")
    charts = [("charts", "demo", kind) for kind in kinds]
    for command in (("prepare", "demo"), ("tables", "demo"), *charts):
        assert call(*command) == 0, command
    assert facts.read_bytes() == before


def test_one_command_makes_the_figure_of_all_models(demo: Path):
    """Case R2: it is a file that the workflow made from all runs, every model in it."""
    figures = demo / "results" / "demo" / "figures" / "comparison"
    text = unescape((figures / "models.svg").read_text(encoding="utf-8"))
    shown = re.sub(r"\s+", "", "".join(re.findall(r">([^<]+)<", text)))
    for name in REPORT:
        assert re.sub(r"\s+", "", load_variants()[name].label) in shown, name


def test_a_model_has_one_name_everywhere(demo: Path):
    """Case R3: its id names its file, its runs, its figures and its rows."""
    results = demo / "results" / "demo"
    assert {path.stem for path in (demo / "config/variants").iterdir()} >= set(REPORT)
    for folder in ("runs", "figures/attention", "attention"):
        found = {path.stem for path in (results / folder).iterdir()}
        assert found - {".snakemake_timestamp"} == set(DEMO), folder
    for table in ("models", "variants"):
        lines = (results / "tables" / f"{table}.csv").read_text().splitlines()
        assert [line.split(",")[0] for line in lines[1:]] == DEMO, table


def test_the_appendix_says_what_each_name_means(demo: Path):
    """Case R3: id, file, label and the settings that tell two models apart."""
    text = (demo / "results/demo/report/report.md").read_text(encoding="utf-8")
    appendix = text[text.index("{#variants .appendix}") :]
    rows = {}
    for line in appendix.splitlines():
        if found := re.match(
            r"\| `([a-z0-9-]+)` `(config/[^`]+)` \|(.+)\|(.+)\|", line
        ):
            rows[found[1]] = (found[2], found[3].strip(), found[4].strip())
    assert list(rows) == DEMO
    for name, (path, label, _) in rows.items():
        content = yaml.safe_load((ROOT / path).read_text())
        assert path == f"config/variants/{name}.yaml"
        plain = re.sub(r"^\[(.*)\]\{of=[^}]*\}$", r"\1", label.replace("\\", ""))
        assert plain == content["label"]
    for first, second in itertools.combinations(rows.values(), 2):
        assert first[1] != second[1]
        assert first[2] != second[2]
