"""Builds a study's report: one text, a page, a print and a manifest."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from reattn.config.paths import project_root, results_folder
from reattn.config.resolution import load_resolved
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.files import write_text, written_whole
from reattn.report.context import read_context
from reattn.report.explorer import with_explorer
from reattn.report.html import make_html
from reattn.report.manifest import write_manifest
from reattn.report.pdf import make_pdf, make_typst
from reattn.report.provenance import provenance
from reattn.report.render import render


def build_report(
    name: str,
    study: Study | None = None,
    variants: Mapping[str, Variant] | None = None,
    results: Path | None = None,
    project: Path | None = None,
    drop_figures: bool = False,
) -> None:
    """Write report.md, report.html, report.pdf and manifest.json.

    What was not measured or drawn is said to be missing, with its reason; a run
    that failed never stops the report.

    Args:
        name: The study's name.
        study: The study; None: read from config/studies.
        variants: Its variants, overrides applied; None: read as well.
        results: Its folder, with tables and figures; None: results/<name>.
        project: Folder with `config` and `report`; None: found from here.
        drop_figures: Whether to go without figures that are listed and gone.

    Raises:
        ReattnError: tables are missing, a figure that is listed cannot be read,
            or a template is faulty.
    """
    if study is None or variants is None:
        study, variants = load_resolved(name)
    results = results or results_folder(name)
    project = project or project_root()
    sources, folder = project / "report", results / "report"
    context = read_context(name, study, variants, results, project, drop_figures)
    text = render(context, sources / "sections", folder)
    write_text(folder / "report.md", text)
    # pandoc and Typst are processes and threads of their own: page and print side by
    # side take half the time on two cores.
    with ThreadPoolExecutor() as both:
        pdf = both.submit(
            lambda: make_pdf(make_typst(text, sources), context.figures, results)
        )
        page = make_html(text, sources, folder, provenance(context))
        limit = study.report.page_megabytes
        write_text(
            folder / "report.html", with_explorer(page, results / "explorer", limit)
        )
    with written_whole(folder / "report.pdf") as temporary:
        temporary.write_bytes(pdf.result())
    write_manifest(name, results)
