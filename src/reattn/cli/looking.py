"""Verbs that look into models: attention, figures, charts."""

from typing import Annotated

import typer

from reattn.cli.arguments import StudyName, VariantId


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command()(attention)
    app.command()(figures)
    app.command()(charts)


def attention(study: StudyName, variant: VariantId) -> None:
    """Save where a trained variant looks, as arrays.

    Takes the first seed whose run ended well. Reads its model.pt and
    results/STUDY/data; writes results/STUDY/attention/VARIANT.npz.
    """
    from reattn.attention.study import save_attention

    save_attention(study, variant)


def figures(study: StudyName, variant: VariantId) -> None:
    """Draw a variant's attention from its saved arrays.

    Reads results/STUDY/attention/VARIANT.npz; writes results/STUDY/figures/
    attention/VARIANT/.
    """
    from reattn.figures.study import draw_variant

    draw_variant(study, variant)


def charts(
    study: StudyName,
    kind: Annotated[str, typer.Argument(help="diagrams, curves or comparison.")],
) -> None:
    """Draw the figures that show no single variant's attention.

    Reads results/STUDY/runs/*/*/history.csv and tables/models.csv; writes
    results/STUDY/figures/KIND/.
    """
    from reattn.figures.charts import draw_charts

    draw_charts(study, kind)
