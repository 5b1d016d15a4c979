"""What the hierarchical models gain over their ordinary versions, in sentences."""

from collections.abc import Sequence

from reattn.report import numbers
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape, listing
from reattn.report.models import Pair, extremes


def gains(context: Context) -> Markdown:
    """In how many pairs the hierarchical model is more accurate, and how surely."""
    pairs = context.pairs
    known = [pair for pair in pairs if pair.difference("accuracy") is not None]
    missing = [pair.name for pair in pairs if pair not in known]
    if not known:
        return Markdown("No pair of models has two accuracies to compare.")
    text = _found(known) + _clear(known) + _caution(context, known)
    if missing:
        verb = "has" if len(missing) == 1 else "have"
        text += (
            f" {listing(missing)} {verb} no such comparison, for the reasons "
            "under the table of results."
        )
    return Markdown(text)


def _found(pairs: Sequence[Pair]) -> str:
    if len(pairs) == 1:
        gap = escape(numbers.points(pairs[0].difference("accuracy")))
        return (
            f"The accuracy of {pairs[0].name} differs from that of its ordinary "
            f"version by {gap} points."
        )
    higher = sum(pair.difference("accuracy") > 0 for pair in pairs)
    ends = extremes(pair.difference("accuracy") for pair in pairs)
    least, greatest = (escape(numbers.points(end)) for end in ends)
    return (
        f"In {higher} of {len(pairs)} pairs the hierarchical model has the higher "
        "accuracy; its difference from the ordinary one lies between "
        f"{least} and {greatest} points."
    )


def _clear(pairs: Sequence[Pair]) -> str:
    """How many differences have an interval that leaves zero out."""
    intervals = [pair.interval for pair in pairs if pair.interval]
    if not intervals:
        return " No difference has an interval."
    kinds = listing(
        dict.fromkeys(pair.cells["accuracy_difference_kind"] for pair in pairs)
    )
    if len(pairs) == 1:
        low, high = (escape(numbers.points(end)) for end in intervals[0])
        return f" The difference’s interval ({kinds}) is {low} to {high}."
    higher = sum(low > 0 for low, _ in intervals)
    lower = sum(high < 0 for _, high in intervals)
    return (
        f" By the differences’ own intervals ({kinds}), {higher} are above zero, "
        f"{lower} below it, and {len(intervals) - higher - lower} may be either."
    )


def _caution(context: Context, pairs: Sequence[Pair]) -> str:
    """Where evaluation mode, not hierarchy, may explain a difference."""
    models = context.models
    ruined = [models[pair.id] for pair in pairs if models[pair.id].modes_differ]
    if not ruined:
        return ""
    names = listing(model.name for model in ruined)
    return (
        f" Of these, {names} would be judged otherwise by the authors’ protocol: "
        "in training mode the accuracy is higher by more than the width of its "
        "interval, for the reason that the section on reproducibility gives."
    )
