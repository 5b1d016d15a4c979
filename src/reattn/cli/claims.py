"""The verb that judges claims."""

import typer

from reattn.cli.arguments import StudyName


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command()(claims)


def claims(study: StudyName) -> None:
    """Judge the claims of config/claims.yaml by what a study measured.

    Reads results/STUDY/tables, runs and measure/attention, config/claims.yaml and
    config/published.yaml; writes results/STUDY/tables/claims.csv and published.csv.
    """
    from reattn.claims import judge_claims
    from reattn.config import load_resolved, results_folder

    settings, variants = load_resolved(study)
    judge_claims(settings, variants, results_folder(study))
