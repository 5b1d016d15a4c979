"""What the models of a study are: the report's, twins of them, or others."""

from collections.abc import Callable

from reattn.report.context import Context
from reattn.report.markdown import Markdown

# What is said of one model and of several, and the section that tells more.
KINDS = {
    "report": (
        "is written as the authors’ training code defines it, deviations from the "
        "papers included",
        "are written as the authors’ training code defines them, deviations from the "
        "papers included",
        "deviations",
    ),
    "audit": (
        "is a twin of one of the report’s models, with one deviation put right",
        "are twins of models of the report, with one deviation put right in each",
        "priced",
    ),
    "projections": (
        "is made to compare maps of queries, keys and values and is none of the "
        "authors’",
        "are made to compare maps of queries, keys and values and are none of the "
        "authors’",
        "projections",
    ),
    "depth": (
        "is a model of the report with another number of layers",
        "are models of the report with other numbers of layers",
        "claims",
    ),
    "own": (
        "is a further one",
        "are further ones",
        "variants",
    ),
}


def kinds(context: Context, reference: Callable[[str], str]) -> Markdown:
    """How many models of each group there are, and where more is told of them.

    Args:
        context: What the report is about.
        reference: Gives the link to a section by its identifier.
    """
    groups = [context.variants[name].group for name in context.models]
    parts = []
    for group, (one, several, section) in KINDS.items():
        if count := groups.count(group):
            noun = "" if parts else f" model{'' if count == 1 else 's'}"
            verb = one if count == 1 else several
            parts.append(f"{count}{noun} {verb} ({reference(section)})")
    return Markdown(f"{'; '.join(parts)}.")
