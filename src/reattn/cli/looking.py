"""Verbs that look into models: attention, figures, charts, pack-explorer."""

from typing import Annotated

import typer

from reattn.cli.arguments import StudyName, VariantId


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command()(attention)
    app.command()(figures)
    app.command()(charts)
    app.command()(pack_explorer)
    app.command()(measure_attention)
    app.command()(draw_attention_metrics)


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


def pack_explorer(study: StudyName) -> None:
    """Pack attention for the explorer in the report's page.

    Reads results/STUDY/attention/*.npz; writes results/STUDY/explorer/index.json,
    which names what is absent and why, and *.bin. The page takes of it what fits.
    """
    from reattn.explorer.study import pack_explorer

    pack_explorer(study)


def charts(
    study: StudyName,
    kind: Annotated[
        str, typer.Argument(help="diagrams, curves, comparison or constructed.")
    ],
) -> None:
    """Draw the figures that show no single variant's attention.

    Reads results/STUDY/runs/*/*/history.csv, tables/models.csv and
    constructed.csv, and measure/constructed-attention.csv; writes
    results/STUDY/figures/KIND/.
    """
    from reattn.figures.charts import draw_charts

    draw_charts(study, kind)


def measure_attention(study: StudyName, variant: VariantId) -> None:
    """Measure a variant's attention over many test images.

    Takes every run that ended well, with its trained and with its initial weights.
    Reads its model.pt and results/STUDY/data; writes results/STUDY/measure/
    attention/VARIANT.csv. Runs without weights keep the rows that stand there.
    """
    from reattn.attention.measuring import measure_attention

    measure_attention(study, variant)


def draw_attention_metrics(study: StudyName, variant: VariantId) -> None:
    """Draw what was measured of a variant's attention.

    Reads results/STUDY/measure/attention/VARIANT.csv; writes results/STUDY/figures/
    attention-metrics/VARIANT/.
    """
    from reattn.figures.attention_metrics_study import draw_variant_metrics

    draw_variant_metrics(study, variant)
