"""Which claims hold: a sentence from the table of claims."""

from reattn.claims.verdicts import PUBLISHED
from reattn.report.claim_tables import verdict_counts
from reattn.report.context import Context
from reattn.report.markdown import Markdown, listing

Row = dict[str, str]
CLEAR = ("supported", "contradicted")


class Answers:
    """Says which claims hold."""

    def __init__(self, context: Context):
        self._context = context

    def verdicts(self) -> Markdown:
        """How many claims have which verdict, and how many by publications alone."""
        rows = self._context.tables["claims"]
        counts = {v: n for v, n in verdict_counts(rows).items() if n}
        if not counts:
            return Markdown("No claim has been judged.")
        parts = [f"{n} {'is' if n == 1 else 'are'} {v}" for v, n in counts.items()]
        judged = [row for row in rows if row["verdict"] in CLEAR]
        alone = sum(row["interval_kind"] == PUBLISHED for row in judged)
        text = f"Of {len(rows)} claims {listing(parts)}."
        if alone:
            text += f" Published numbers alone decide {alone} of these."
        return Markdown(text)
