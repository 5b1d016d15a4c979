"""What a report shows today that one written now would have to leave out.

Arrays of attention and the figures drawn from them are not kept with a repository's
results, but their reports show them. Written anew in a fresh clone, a report would
lose what nobody there can draw again.
"""

import re
from collections.abc import Collection
from pathlib import Path
from urllib.parse import unquote

from reattn.config.paths import CHARTS, results_folder, shown
from reattn.errors import ReattnError
from reattn.report.explorer import INDEX_TAG, has_packs

_FIGURE = re.compile(r"\(<\.\./(figures/[^>]+)>\)")


def check_losses(study: str, redrawn: bool) -> None:
    """Refuse to write a report that would lose figures or the explorer.

    Args:
        study: The study's name.
        redrawn: Whether charts are drawn anew before, so that none of them is lost.

    Raises:
        ReattnError: the report of today shows what is not there any more.
    """
    results = results_folder(study)
    lost = lost_figures(results, CHARTS if redrawn else ())
    parts = [f"{len(lost)} figures ({lost[0]} is the first)"] if lost else []
    if _loses_explorer(results, redrawn):
        parts.append("the attention explorer")
    if parts:
        raise ReattnError(
            f"{shown(results / 'report')} shows {' and '.join(parts)} that can not be "
            "made from what is here; a report written now would lose them. Make them "
            f"again: snakemake --cores all --config study={study}. Or write it without "
            f"them: python -m reattn report {study} --drop-figures"
        )


def lost_figures(results: Path, redrawn: Collection[str] = ()) -> list[str]:
    """Figures that report.md shows and whose files are gone, relative to `results`.

    Args:
        results: results/<study>.
        redrawn: Folders below `figures` that do not count.
    """
    report = results / "report" / "report.md"
    if not report.exists():
        return []
    named = map(unquote, _FIGURE.findall(report.read_text(encoding="utf-8")))
    return [
        name
        for name in dict.fromkeys(named)
        if Path(name).parts[1] not in redrawn and not (results / name).exists()
    ]


def _loses_explorer(results: Path, packed_anew: bool) -> bool:
    page = results / "report" / "report.html"
    if not page.exists() or INDEX_TAG not in page.read_text(encoding="utf-8"):
        return False
    if packed_anew:
        return not any((results / "attention").glob("*.npz"))
    return not has_packs(results / "explorer")
