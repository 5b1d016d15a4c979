"""Verbs that gather results: tables, report."""

import typer

from reattn.cli.arguments import StudyName


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command()(tables)
    app.command()(report)


def tables(study: StudyName) -> None:
    """Gather runs and measurements into tables.

    Reads results/STUDY/runs and measure; writes results/STUDY/tables/*.csv.
    What is not there is marked n/a with its reason.
    """
    from reattn.config import load_resolved, results_folder
    from reattn.tables import make_tables

    settings, variants = load_resolved(study)
    make_tables(settings, variants, results_folder(study))


def report(study: StudyName) -> None:
    """Typeset the report from tables and figures, as they are.

    Reads results/STUDY and report/; writes results/STUDY/report/report.md,
    report.html, report.pdf and manifest.json.
    """
    from reattn.report import build_report

    build_report(study)
