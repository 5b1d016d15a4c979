"""Which claims hold: sentences from the table of claims."""

from collections import Counter

from reattn.claims.judging import IN_THIS_SETTING
from reattn.claims.published import AT_THIS_SCALE
from reattn.claims.verdicts import (
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_TESTED,
    PUBLISHED,
    SUPPORTED,
)
from reattn.claims.wording import NAMING
from reattn.report.claim_rows import (
    is_of_other_models,
    verdict_counts,
    why_no_clearer,
)
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape, listing, sentence

Row = dict[str, str]
CLEAR = (SUPPORTED, CONTRADICTED)
OPENINGS = {
    SUPPORTED: "Supported",
    CONTRADICTED: "Contradicted",
    INCONCLUSIVE: "Inconclusive",
}
TOO_FEW = "too few runs"
OTHER_SCALE = "for the report’s own size"
MORE_RUNS = "for more runs of a model"
OTHER_MODELS = "for models or measurements that this study does not have"
ELSE = "for something else that the table names"


class Answers:
    """Says which claims hold."""

    def __init__(self, context: Context):
        self._rows = context.tables["claims"]

    def verdicts(self) -> Markdown:
        """How many claims have which verdict, and how many by publications alone."""
        counts = {v: n for v, n in verdict_counts(self._rows).items() if n}
        if not counts:
            return Markdown("No claim has been judged.")
        parts = [f"{n} {'is' if n == 1 else 'are'} {v}" for v, n in counts.items()]
        judged = [row for row in self._rows if row["verdict"] in CLEAR]
        alone = sum(row["interval_kind"] == PUBLISHED for row in judged)
        text = f"Of {len(self._rows)} claims {listing(parts)}."
        if alone:
            text += (
                f" Of the {len(judged)} that are supported or contradicted, {alone} "
                f"{'is' if alone == 1 else 'are'} decided by published numbers alone."
            )
        return Markdown(text)

    def untested(self) -> Markdown:
        """What the claims that are not tested ask for; empty where all are."""
        rows = [row for row in self._rows if row["verdict"] == NOT_TESTED]
        if not rows:
            return Markdown("")
        counts = Counter(map(_asked_for, rows))
        order = (OTHER_SCALE, MORE_RUNS, OTHER_MODELS, ELSE)
        parts = [f"{counts[need]} {need}" for need in order if counts[need]]
        verb = "asks" if len(rows) == 1 else "ask"
        return Markdown(f"Those not tested {verb}: {listing(parts)}.")

    @property
    def of_other_models(self) -> int:
        """How many claims have no number here because the study lacks their models."""
        return sum(map(is_of_other_models, self._rows))

    def by_verdict(self) -> list[Markdown]:
        """Each claim that was judged by numbers, the clear ones first."""
        return [
            Markdown(f"**{word}**{_setting(row)}: {sentence(row['statement'])}")
            for verdict, word in OPENINGS.items()
            for row in self._rows
            if row["verdict"] == verdict
        ]


def _setting(row: Row) -> str:
    """Where a verdict holds, or whose numbers alone it is."""
    if row["interval_kind"] == PUBLISHED:
        return ", by published numbers alone"
    reduced = IN_THIS_SETTING in why_no_clearer(row)
    return f", {escape(IN_THIS_SETTING)}" if reduced else ""


def _asked_for(row: Row) -> str:
    why = why_no_clearer(row)
    if why.startswith(AT_THIS_SCALE.removeprefix(NOT_TESTED).strip(" ;:")):
        return OTHER_SCALE
    if TOO_FEW in why:
        return MORE_RUNS
    return OTHER_MODELS if any(lead in why for lead in NAMING) else ELSE
