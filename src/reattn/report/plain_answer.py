"""The answer to why queries, keys and values have maps of their own, in plain words."""

from collections.abc import Sequence

from reattn.report.markdown import Markdown, labels
from reattn.tables.differences import PAIRED, WELCH

Row = dict[str, str]
SYMMETRIC = ("dot", "cosine", "tied", "shared")  # of content; positions may differ
ONE_SIDED = ("no-key", "no-query")


def plain_answer(rows: Sequence[Row]) -> Markdown:
    """What accuracies on images say to the argument from the constructed task.

    Args:
        rows: Of projections.csv; those without an interval over seeds do not count.

    Returns:
        A few sentences; empty where no symmetric form can be compared.
    """
    known = [row for row in rows if row["difference_kind"] in (PAIRED, WELCH)]
    symmetric = [row for row in known if row["scores"] in SYMMETRIC]
    if not symmetric:
        return Markdown("")
    one_sided = [row for row in known if row["scores"] in ONE_SIDED]
    parts = [_of_symmetry(symmetric), _of_one_side(one_sided), _of_values(known)]
    told = " ".join(filter(None, parts))
    return Markdown(f"**In plain words, of this study’s models.** {told}")


def _is_lower(row: Row) -> bool:
    return float(row["difference_high"]) < 0


def _of_symmetry(rows: Sequence[Row]) -> str:
    lower = [row for row in rows if _is_lower(row)]
    if len(lower) == len(rows):
        return (
            "As in the constructed task, a token must be able to ask for something "
            "else than what it is: every model that compares features by symmetric "
            "scores is less accurate than the one with queries and keys."
        )
    if not lower:
        return (
            "These runs do not show on images what the constructed task shows: no "
            "model with symmetric scores of features is less accurate than the one "
            "with queries and keys."
        )
    return (
        "On images the argument of the constructed task holds in part: of the models "
        f"with symmetric scores of features, {_names(lower)} "
        f"{_verb(lower)} less accurate than the one with queries and keys, and "
        f"{_names([row for row in rows if row not in lower])} not shown to be."
    )


def _of_one_side(rows: Sequence[Row]) -> str:
    """One map, on one side, already makes scores that are not symmetric."""
    if not rows:
        return ""
    lower = [row for row in rows if _is_lower(row)]
    if not lower:
        return (
            "One map is enough for that, if it is on one side: "
            f"{_names(rows)} {_verb(rows)} not shown to be less accurate."
        )
    return (
        "A map on one side alone makes scores that are not symmetric, and yet "
        f"{_names(lower)} {_verb(lower)} less accurate."
    )


def _of_values(rows: Sequence[Row]) -> str:
    """Merged maps compute the same function; only training can tell them apart."""
    merged = [row for row in rows if row["values"] == "merged"]
    if not merged:
        return ""
    if all(map(_is_lower, merged)):
        return (
            "A map of values before the output map adds no function, and accuracy "
            "falls without it all the same: what it changes is the course of training."
        )
    return (
        "A map of values before the output map adds no function, and these runs show "
        "no loss where both are merged."
    )


def _names(rows: Sequence[Row]) -> str:
    return labels(row["label"] for row in rows)


def _verb(rows: Sequence[Row]) -> str:
    return "is" if len(rows) == 1 else "are"
