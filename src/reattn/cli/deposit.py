"""Verbs that take a finished report elsewhere, and check it there."""

from pathlib import Path
from typing import Annotated

import typer

from reattn.cli.arguments import StudyName


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command()(verify)
    app.command()(export)
    app.command()(pack_page)
    app.command()(take_pictures)


def verify(
    study: StudyName,
    archive: Annotated[
        Path | None,
        typer.Option(help="Check this archive of export instead of results/STUDY."),
    ] = None,
    links: Annotated[
        bool, typer.Option("--links", help="List the other places that it links to.")
    ] = False,
) -> None:
    """Check a study's files against its manifest, and every link of its page.

    Reads results/STUDY/report/manifest.json, all that it lists, and report.html;
    writes and fetches nothing. All faults are told together.
    """
    from reattn.config.loading import load_study
    from reattn.report.verify import verify_study
    from reattn.report.verify_archive import verify_archive

    if archive:
        found = verify_archive(study, archive)
    else:
        load_study(study)  # tells a misspelt name
        found = verify_study(study)
    typer.echo(str(found))
    for address in found.external if links else ():
        typer.echo(address)


def export(
    study: StudyName,
    to: Annotated[
        Path | None,
        typer.Option(help="The archive; else results/STUDY/reattn-STUDY.tar.gz."),
    ] = None,
) -> None:
    """Pack a finished study into one archive that can be deposited.

    Reads results/STUDY, config, the environment's files, CITATION.cff and LICENSE;
    writes one .tar.gz, after `verify` has found no fault. Weights, arrays, figures
    and data sets stay out. The same study gives the same bytes.
    """
    from reattn.config.loading import load_study
    from reattn.config.paths import shown
    from reattn.report.export import export_study

    load_study(study)  # tells a misspelt name
    path, count = export_study(study, to)
    typer.echo(f"{shown(path)}: {count} files, {path.stat().st_size / 2**20:.1f} MiB.")


def pack_page(study: StudyName) -> None:
    """Pack the report's page for Snakemake's own report.

    Reads results/STUDY/report/report.html; writes results/STUDY/page/report.html.
    """
    from reattn.config.loading import load_study
    from reattn.report import packed_page

    load_study(study)  # tells a misspelt name
    packed_page.pack_page(study)


def take_pictures(
    study: StudyName,
    to: Annotated[
        Path | None, typer.Option(help="A folder; else results/STUDY/pictures.")
    ] = None,
) -> None:
    """Take the README's pictures of a study's report, in a browser.

    Reads docs/pictures/pictures.yaml and the study's report; writes a PNG each.
    Needs chromium and the packages for development; for the PDF, pdftoppm.
    """
    from reattn.config.loading import load_study
    from reattn.config.paths import shown
    from reattn.report import pictures

    load_study(study)  # tells a misspelt name
    for path in pictures.take_pictures(study, to):
        typer.echo(f"{shown(path)}: {path.stat().st_size / 1000:.0f} kB")
