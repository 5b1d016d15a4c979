"""Why queries, keys and values have maps of their own: sentences from the tables."""

from collections.abc import Sequence

from reattn.report import numbers
from reattn.report.chance import by_chance
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape, listing
from reattn.report.plain_answer import plain_answer
from reattn.tables.cells import NOT_AVAILABLE
from reattn.tables.differences import PAIRED, WELCH

Row = dict[str, str]


class ProjectionAnswers:
    """Says what the constructed task and the models without some maps show."""

    def __init__(self, context: Context):
        rows = context.tables["constructed"]
        self._trained = [r for r in rows if r["accuracy_mean"] != NOT_AVAILABLE]
        self._models = context.tables["projections"]
        self._variants = context.variants

    def constructed(self) -> Markdown:
        """Symmetric scores beside the others."""
        symmetric = [row for row in self._trained if row["symmetric"] == "yes"]
        others = [row for row in self._trained if row["symmetric"] == "no"]
        if not (symmetric and others):
            return Markdown("The constructed task has not been trained in this study.")
        return Markdown(
            f"No form with symmetric scores ({_labels(symmetric)}) gets more than "
            f"{_best(symmetric)} of the answers right with any seed; every other form "
            f"({_labels(others)}) gets {_worst(others)}."
        )

    def itself(self) -> Markdown:
        """How often a token matches itself best, before training."""
        found = [
            f"{escape(row['label'])} {numbers.share(row['self_largest_initial_mean'])}"
            for row in self._trained
        ]
        if not found:
            return Markdown("")
        return Markdown(
            "How often a token gives its largest weight to itself, before training: "
            f"{'; '.join(found)}."
        )

    def temperature(self) -> str:
        """What cosines are divided by; empty where no model compares them."""
        found = {
            f"{variant.model.temperature:g}"
            for variant in self._variants.values()
            if getattr(variant.model, "scores", None) == "cosine"
        }
        return " or ".join(sorted(found))

    def in_plain_words(self) -> Markdown:
        """What the accuracies answer; empty where they cannot."""
        return plain_answer(self._models)

    def by_chance(self) -> Markdown:
        """What chance alone does to so many intervals; empty where there are few."""
        return by_chance(self._models, "difference_low", "difference_high")

    def models(self) -> list[Markdown]:
        """What leaving maps out does to accuracy on the study's images."""
        compared = [row for row in self._models if row["difference"] != NOT_AVAILABLE]
        bounded = [row for row in compared if row["difference_kind"] in (PAIRED, WELCH)]
        single = [row for row in compared if row not in bounded]
        lower = [row for row in bounded if float(row["difference_high"]) < 0]
        higher = [row for row in bounded if float(row["difference_low"]) > 0]
        unclear = [row for row in bounded if row not in (*lower, *higher)]
        groups = (
            (lower, "Less accurate than with all maps, the whole interval below zero"),
            (higher, "More accurate than with all maps, the whole interval above zero"),
            (unclear, "Not told apart from all maps by these runs"),
            (single, "One run on a side, which says nothing of other seeds"),
        )
        return [
            Markdown(f"{words}: {listing(map(_difference, rows))}.")
            for rows, words in groups
            if rows
        ]


def _difference(row: Row) -> Markdown:
    gap = numbers.points(row["difference"])
    return Markdown(f"*{escape(row['label'])}* ({escape(gap)} points)")


def _labels(rows: Sequence[Row]) -> str:
    return "; ".join(escape(row["label"]) for row in rows)


def _best(rows: Sequence[Row]) -> str:
    return numbers.share(max(float(row["accuracy_max"]) for row in rows))


def _worst(rows: Sequence[Row]) -> str:
    least = min(float(row["accuracy_min"]) for row in rows)
    return "all of them" if least == 1 else f"at least {numbers.share(least)}"
