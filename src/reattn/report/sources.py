"""Where a study's images come from, in words."""

from reattn.report.context import Context

# By `data.source`, as settings and tables name it.
WORDS = {
    "digits": "scikit-learn’s handwritten digits",
    "cifar10": "the official archive of CIFAR-10",
    "image-folder": "a folder of images",
}


def image_sources(context: Context) -> list[str]:
    """What the runs were trained on; before any run, what the study names."""
    found = context.values("data_source") or [context.study.data.source]
    return [WORDS.get(source, source) for source in found]
