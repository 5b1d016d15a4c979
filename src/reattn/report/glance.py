"""What a study leaves open, in a few words for the first screen."""

from reattn.report.claim_rows import verdict_counts
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape


def not_measured(context: Context) -> list[Markdown]:
    """Models without accuracy, claims without test, deviations without price.

    Returns:
        One phrase for each kind of which there is any, linked to where it is told.
    """
    claims = context.tables["claims"]
    absent = [model.label for model in context.unmeasured]
    priced = {row["deviation"] for row in context.priced}
    unpriced = {row["deviation"] for row in context.unpriced} - priced
    counts = (
        (len(absent), "the accuracy of", "model", "logs"),
        (verdict_counts(claims)["not tested"], "", "claim", "claims"),
        (len(unpriced), "the price of", "deviation", "priced"),
    )
    return [_phrase(*count) for count in counts if count[0]]


def _phrase(count: int, before: str, noun: str, target: str) -> Markdown:
    words = f"{before} {count} {noun}{'' if count == 1 else 's'}".strip()
    return Markdown(f"[{escape(words)}](#{target})")
