"""Verbs that gather results: agreement, tables, report, retry."""

from typing import Annotated

import typer

from reattn.cli.arguments import StudyName


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command()(agreement)
    app.command()(tables)
    app.command()(report)
    app.command()(retry)


def agreement(study: StudyName) -> None:
    """Compare, image by image, what twins and hierarchical pairs get right.

    Reads results/STUDY/runs/*/*/predictions.npz; writes results/STUDY/measure/
    agreement.csv. Pairs without predictions keep the rows that stand there.
    """
    from reattn.config import load_resolved, results_folder
    from reattn.tables.agreement import compare_predictions

    settings, variants = load_resolved(study)
    compare_predictions(settings, variants, results_folder(study))


def tables(study: StudyName) -> None:
    """Gather runs and measurements into tables.

    Reads results/STUDY/runs and measure; writes results/STUDY/tables/*.csv.
    What is not there is marked n/a with its reason.
    """
    from reattn.config import load_resolved, results_folder
    from reattn.tables import make_tables

    settings, variants = load_resolved(study)
    make_tables(settings, variants, results_folder(study))


def report(
    study: StudyName,
    refresh: Annotated[
        bool,
        typer.Option(help="Make tables and charts anew from what is there."),
    ] = True,
    drop_figures: Annotated[
        bool,
        typer.Option(
            "--drop-figures",
            help="Write it even if it loses figures that it shows today.",
        ),
    ] = False,
) -> None:
    """Typeset the report from what exists, whatever is missing.

    Reads results/STUDY and report/; writes results/STUDY/report/report.md,
    report.html, report.pdf and manifest.json, and before them tables and charts.
    What is missing says so, with its reason; then there is no manifest.json, so
    that the next snakemake makes the rest. Figures that the report shows today and
    that are not here any more are never lost unasked.
    """
    from reattn.report import build_report
    from reattn.report.completeness import absent_parts, forget_manifest
    from reattn.report.losses import check_losses

    if not drop_figures:
        check_losses(study, redrawn=refresh)
    if refresh:
        _refresh(study)
    build_report(study, drop_figures=drop_figures)
    if refresh and (absent := absent_parts(study)):
        forget_manifest(study)
        typer.echo(f"The report is of what there is. Absent: {'; '.join(absent)}.")


def _refresh(study: str) -> None:
    """Make what a report is made of, as far as that takes seconds."""
    from reattn.cli.claims import claims
    from reattn.cli.looking import pack_explorer
    from reattn.config.paths import CHARTS
    from reattn.figures.charts import draw_charts

    agreement(study)
    tables(study)
    claims(study)
    for kind in CHARTS:
        draw_charts(study, kind)
    pack_explorer(study)


def retry(
    study: StudyName,
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="VARIANT/seedN, or VARIANT; none: all that failed or diverged.",
        ),
    ] = None,
    stale: Annotated[
        bool,
        typer.Option("--stale", help="Also runs that other code or settings made."),
    ] = False,
) -> None:
    """Reopen runs, so that the next snakemake trains them again.

    Moves outputs from results/STUDY/runs to results/STUDY/work; deletes nothing.
    """
    from reattn.cli.retrying import reopen_runs

    lines = reopen_runs(study, runs or [], stale=stale)
    for line in lines or ["No run to reopen."]:
        typer.echo(line)
    if lines:
        typer.echo(f"Next: snakemake --config study={study}")
