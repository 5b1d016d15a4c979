"""What an archive says of itself."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from reattn.config.studies import Study
from reattn.report.archive import SUMS

TEXT = """\
# {title}

Results of the study `{study}` of reattn, a reproducibility report that rebuilds itself:
"[Re] On the Relationship between Self-Attention and Convolutional Layers".

{scale}

- Runs: {runs}
- Images: {images}
- Devices: {devices}
- Commits of the code that trained them: {commits}

| here | what it is |
|---|---|
| `results/{study}/report/report.html` | the report; opens without a network |
| `results/{study}/report/report.pdf`, `report.md` | the same for print, and as text |
| `results/{study}/tables/` | every table of the report, and more columns, as CSV |
| `results/{study}/runs/` | of each run: metrics, status, history by epoch |
| `results/{study}/measure/` | parameters, FLOPs, wall times, attention by head |
| `results/{study}/data/data.json` | what the images were, with checksum |
| `results/{study}/report/manifest.json` | every file with size and SHA-256 |
| `config/` | the study, its variants, claims, published numbers, known deviations |
| `settings.json` | the same settings in full: defaults filled in, overrides applied |
| `environment.yml`, `pyproject.toml` | packages, with bounds |
| `requirements.lock` | the same packages, exact versions |
| `CITATION.cff`, `LICENSE` | how to cite, and the terms |

Not here: images of the data set, weights, arrays, predictions, and figures as files of
their own. `manifest.json` lists figures all the same; `report.html` and `report.pdf`
hold them.

## To check it

    sha256sum --check {sums}

or, with reattn, every file, the manifest and every link of the page:

    python -m reattn verify {study} --archive reattn-{study}.tar.gz

## To make it again

In a clone of the code, with the packages of `requirements.lock`:

    snakemake --cores all --config study={study}
"""


def describe(study: str, settings: Study, metrics: Sequence[Mapping[str, Any]]) -> str:
    """README.md of an archive.

    Args:
        study: The study's name.
        settings: The study.
        metrics: metrics.json of its runs.
    """
    scale = f"**A reduced study.** {settings.reduced}"
    return TEXT.format(
        title=settings.title,
        study=study,
        scale=scale if settings.reduced else "At the report's own size.",
        runs=_counted(metrics, "status"),
        images=_counted(metrics, "data_source"),
        devices=_counted(metrics, "device"),
        commits=_counted(metrics, "commit"),
        sums=SUMS,
    )


def _counted(metrics: Sequence[Mapping[str, Any]], key: str) -> str:
    """Every value of a key with the number of runs that have it."""
    counts = Counter(str(found.get(key) or "not recorded") for found in metrics)
    told = [f"{value} ({n} runs)" for value, n in sorted(counts.items())]
    return ", ".join(told) or "none"
