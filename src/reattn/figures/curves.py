"""Training curves: a figure a variant, and all variants side by side."""

from pathlib import Path

from reattn.figures.catalogue import FigureRecord, write_catalogue
from reattn.figures.run_panels import Histories, Seeds, draw_overview, draw_runs
from reattn.figures.style import styled
from reattn.figures.svg import save_svg
from reattn.figures.wording import in_whole


def draw_curves(
    histories: Histories, folder: Path | str, reduced: str | None
) -> list[dict]:
    """Draw every variant's runs, and an overview, as SVG.

    Args:
        histories: By (variant, label), in the order of tables; for each its runs
            by seed, as tables with the columns of history.csv. A variant without
            runs is said to have none.
        folder: Where to.
        reduced: How the study falls short of the report, if it does.

    Returns:
        The entries of figures.json, of kinds curves, overview and none.
    """
    folder = Path(folder)
    records = []
    with styled():
        for (variant, label), seeds in histories.items():
            record = _record(variant, label, seeds, reduced)
            if record.file:
                figure = draw_runs(label, seeds, reduced)
                save_svg(figure, folder / record.file, title=record.alt)
            records.append(record)
        if any(histories.values()):
            overview = _overview_record(histories, reduced)
            figure = draw_overview(histories, reduced)
            save_svg(figure, folder / overview.file, title=overview.alt)
            records.append(overview)
    return write_catalogue(folder, records)


def _record(
    variant: str, label: str, seeds: Seeds, reduced: str | None
) -> FigureRecord:
    if not seeds:
        reason = f"{label} has no finished epoch to draw."
        return FigureRecord(None, "none", reason, "", variant, label)
    which = ", ".join(str(seed) for seed in seeds)
    plural = "seeds" if len(seeds) > 1 else "seed"
    caption = (
        f"Training of {label}, {plural} {which}: training loss, accuracy on training "
        "images (running mean of the epoch, as augmented) and on test images (eval "
        "mode), learning rate."
    )
    alt = f"Loss, accuracy and learning rate of {label} against epochs."
    file, caption = f"{variant}_curves.svg", in_whole([caption], reduced)
    return FigureRecord(file, "curves", caption, alt, variant, label)


def _overview_record(histories: Histories, reduced: str | None) -> FigureRecord:
    caption = (
        "Accuracy of all models during training: on test images in eval mode "
        "(blue, bold) and on training images (orange, thin), a line a seed."
    )
    alt = f"A panel for each of {len(histories)} models: accuracy against epochs."
    caption = in_whole([caption], reduced)
    return FigureRecord("overview.svg", "overview", caption, alt)
