"""A finished study of a few small files, to check and to pack."""

import shutil
from pathlib import Path

from conftest import ROOT, write_study

from reattn.files import write_json, write_text
from reattn.report.manifest import write_manifest

STUDY = "tiny"
PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>A page</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:;
style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<style>h1 { background: url("data:image/png;base64,AA") }</style></head>
<body><h1 id="top">A page</h1>
<a href="#top">Up</a> <a href="#caf%C3%A9">Down</a> <a href="report.pdf">Print</a>
<a href="https://example.org/a?b=c">Elsewhere</a>
<img alt="a" src="data:image/svg+xml,%3Csvg/%3E"><p id="café">End</p>
<script type="module">let a = "http://example.org/";</script></body></html>
"""


def finish_study(project: Path) -> Path:
    """Write a finished study into a project with a configuration; its folder."""
    write_study(project)
    for name in ("environment.yml", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, project)
    for name in ("CITATION.cff", "LICENSE"):
        shutil.copy(ROOT / name, project)
    results = project / "results" / STUDY
    write_json(results / "data" / "data.json", {"source": "digits"})
    write_text(results / "tables" / "models.csv", "variant,accuracy\nvit,1\n")
    write_text(results / "measure" / "measurements.csv", "variant\nvit\n")
    write_text(results / "figures" / "curves" / "loss.svg", "<svg/>")
    run = results / "runs" / "vit" / "seed0"
    write_json(run / "metrics.json", {"status": "ok", "commit": "abc", "device": "cpu"})
    write_text(run / "model.pt", "weights")
    write_text(results / "data" / "images.npy", "images")
    for name in ("report.md", "report.pdf"):
        write_text(results / "report" / name, name)
    write_page(results, PAGE)
    return results


def write_page(results: Path, page: str) -> None:
    """Another page, which the manifest knows."""
    write_text(results / "report" / "report.html", page)
    write_manifest(STUDY, results)
