"""What the hierarchical models gain over their ordinary versions, in sentences."""

from collections.abc import Sequence

from reattn.report import numbers
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape, listing
from reattn.report.models import Pair, extremes
from reattn.tables.cells import NOT_AVAILABLE


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


def image_by_image(context: Context) -> Markdown:
    """McNemar's test of every pair of one run each; empty where there is none."""
    tested = [
        pair
        for pair in context.pairs
        if pair.cells.get("mcnemar_p", NOT_AVAILABLE) != NOT_AVAILABLE
    ]
    if not tested:
        return Markdown("")
    parts = "; ".join(
        f"{pair.name} {pair.cells['only_hierarchical_right']} to "
        f"{pair.cells['only_ordinary_right']} (p "
        f"{numbers.probability(pair.cells['mcnemar_p'])})"
        for pair in tested
    )
    return Markdown(
        "Image by image, the test images that the hierarchical model alone gets right "
        "stand to those that its ordinary version alone gets right, with the p of "
        f"McNemar’s exact test, as follows: {parts}. That compares two trained "
        "networks, and says nothing of other seeds."
    )


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
        f"In {higher or 'none'} of {len(pairs)} pairs the hierarchical model is more "
        "accurate than its ordinary version; from pair to pair the difference runs "
        f"from {least} to {greatest} points."
    )


def _clear(pairs: Sequence[Pair]) -> str:
    """How many differences have an interval that leaves zero out."""
    intervals = [pair.interval for pair in pairs if pair.interval]
    if not intervals:
        return " No difference has an interval."
    kinds = escape(
        " or ".join(
            dict.fromkeys(pair.cells["accuracy_difference_kind"] for pair in pairs)
        )
    )
    if len(pairs) == 1:
        low, high = (escape(numbers.points(end)) for end in intervals[0])
        return f" The difference’s interval ({kinds}) is {low} to {high}."
    higher = sum(low > 0 for low, _ in intervals)
    lower = sum(high < 0 for _, high in intervals)
    open_ones = len(intervals) - higher - lower
    return (
        f" By the differences’ own intervals ({kinds}), {_some(higher)} above zero, "
        f"{_some(lower)} below it, and {_some(open_ones)} not told from zero."
    )


def _some(count: int) -> str:
    """`none is`, `1 is` or `4 are`."""
    return f"{count or 'none'} {'are' if count > 1 else 'is'}"


def _caution(context: Context, pairs: Sequence[Pair]) -> str:
    """Where evaluation mode, not hierarchy, may explain a part of a difference."""
    models = context.models
    ruined = [
        pair
        for pair in pairs
        if models[pair.id].modes_differ
        and pair.difference("accuracy_authors") is not None
    ]
    if not ruined:
        return ""
    names = listing(pair.name for pair in ruined)
    return (
        f" Evaluation mode lowers {names} by more than an interval is wide (D3). By "
        "the authors’ protocol, which evaluates in training mode, "
        f"{'; '.join(map(_by_authors, ruined))}."
    )


def _by_authors(pair: Pair) -> str:
    headline, authors = (
        escape(numbers.points(pair.difference(quantity)))
        for quantity in ("accuracy", "accuracy_authors")
    )
    return f"the difference of {pair.name} is {authors} points instead of {headline}"
