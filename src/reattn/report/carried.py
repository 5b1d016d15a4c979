"""Deviations of the authors' code that the models of a study contain."""

from collections.abc import Mapping
from typing import Any

from reattn.config.variants import Variant
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape

Entry = Mapping[str, Any]
# Others change no number of this report, or are told beside the headline.
FOLLOWED = ("yes", "partly")


def carried_without_price(context: Context) -> list[Markdown]:
    """Deviations that may move accuracies of this study by an unknown amount.

    Returns:
        What each is, and its id, in the ledger's order.
    """
    known = {row["deviation"] for row in context.priced}
    return [
        Markdown(f"{escape(entry['title'])} ({entry['id']})")
        for entry in context.deviations
        if entry["id"] not in known
        and _may_move_accuracy(entry)
        and any(_is_in(*own, entry, context) for own in context.variants.items())
    ]


def _may_move_accuracy(entry: Entry) -> bool:
    told_beside = entry.get("columns")
    return (
        entry["followed"] in FOLLOWED
        and not told_beside
        and entry.get("moves", "accuracy") == "accuracy"
    )


def _is_in(name: str, variant: Variant, entry: Entry, context: Context) -> bool:
    """Whether a model has a deviation; those of a recipe are in every model."""
    if families := entry.get("families"):
        return variant.model.family in families
    if not (twins := entry.get("twins")):
        return True
    origins = {context.known[twin].compared_with for twin in twins}
    if name in origins:
        return True
    setting, values = entry["setting"].split(": ")
    alike = {context.known[origin].model.family for origin in origins}
    return (
        variant.group == "own"
        and variant.model.family in alike
        and getattr(variant.model, setting, None) == values.split(" or ")[0]
    )
