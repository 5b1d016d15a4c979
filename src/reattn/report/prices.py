"""What deviations of the authors' code cost: sentences from the table of the audit."""

from collections.abc import Mapping

from reattn.report import numbers
from reattn.report.chance import by_chance
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape, labels, listing, sentence, spans
from reattn.tables.cells import NOT_AVAILABLE, split_reasons
from reattn.tables.differences import OVER_IMAGES

Row = dict[str, str]


class Prices:
    """Says what putting deviations right changes, and what is not known."""

    def __init__(self, context: Context):
        self._context = context

    def one_by_one(self) -> list[Markdown]:
        """One sentence a deviation and model: what putting it right changes."""
        return [_price(row) for row in self._context.priced]

    def by_chance(self) -> Markdown:
        """What chance alone does to so many intervals; empty where there are few."""
        return by_chance(self._context.priced, "low", "high")

    def in_brief(self) -> Markdown:
        """The same in one sentence a deviation."""
        priced = self._context.priced
        if not priced:
            return Markdown("This study prices none of the authors’ deviations.")
        parts = []
        for name in dict.fromkeys(row["deviation"] for row in priced):
            changes = [_brief(row) for row in priced if row["deviation"] == name]
            parts.append(
                f"Putting {name} right changes the accuracy {listing(changes)}."
            )
        return Markdown(" ".join(parts))

    def not_priced(self) -> list[Markdown]:
        """Twins that this study says nothing of: one line a reason."""
        found: dict[str, dict[str, list[str]]] = {}
        for row in self._context.unpriced:
            reasons = split_reasons(row["reason"])
            why = reasons.get("difference") or next(iter(reasons.values()), "")
            # Which of both is not there is told by the table.
            alike = found.setdefault(why.split(":")[0], {})
            alike.setdefault(row["deviation"], []).append(row["label"])
        return [
            Markdown(f"{sentence(why).rstrip('.')}: {'; '.join(_of_models(alike))}.")
            for why, alike in found.items()
        ]

    def unpriceable(self) -> Markdown:
        """Deviations that no twin prices."""
        without = [
            int(entry["id"].removeprefix("D"))
            for entry in self._context.deviations
            if not entry.get("twins") and not entry.get("columns")
        ]
        return Markdown(f"{listing(spans(without, 'D'))} have no twin")


def _of_models(found: Mapping[str, list[str]]) -> list[str]:
    """Deviations, each with the models that have it."""
    return [f"{name} in {labels(models)}" for name, models in found.items()]


def _brief(row: Row) -> Markdown:
    gain = escape(numbers.points(row["difference"]))
    bounds = numbers.interval(row["low"], row["high"], numbers.points)
    shown = "" if bounds == NOT_AVAILABLE else f" ({escape(bounds)})"
    return Markdown(f"of *{escape(row['label'])}* by {gain} points{shown}")


def _price(row: Row) -> Markdown:
    gain = numbers.points(row["difference"])
    name = f"**{row['deviation']}** in *{escape(row['label'])}*"
    text = f"{name}: put right, {escape(gain)} points"
    bounds = numbers.interval(row["low"], row["high"], numbers.points)
    kind = escape(row["interval_kind"])
    if bounds == NOT_AVAILABLE:
        return Markdown(f"{text}; {kind}.")
    spread = f"{numbers.CONFIDENCE} interval {escape(bounds)}; {kind}"
    runs = f"runs: {row['n']}"
    return Markdown(f"{text} ({spread}; {runs}). {_meaning(row)}{_by_authors(row)}")


def _by_authors(row: Row) -> str:
    """The same by the other protocol, for models that evaluation mode ruins."""
    if row["authors_difference"] == NOT_AVAILABLE:
        return ""
    gain = escape(numbers.points(row["authors_difference"]))
    bounds = numbers.interval(row["authors_low"], row["authors_high"], numbers.points)
    shown = "" if bounds == NOT_AVAILABLE else f" ({escape(bounds)})"
    return f" By the authors’ protocol it is {gain}{shown}."


def _meaning(row: Row) -> str:
    """What an interval tells of the deviation."""
    if row["interval_kind"] == OVER_IMAGES:
        return f"That is one run each, and says nothing of other seeds.{_by_image(row)}"
    low, high = float(row["low"]), float(row["high"])
    if low > 0:
        return f"It costs accuracy in this setting.{_pair_by_pair(row)}"
    if high < 0:
        return f"It raises accuracy in this setting.{_pair_by_pair(row)}"
    text = "The interval contains zero: no cost is shown, and none is excluded."
    if row["detectable"] != NOT_AVAILABLE:
        least = numbers.two_decimals(row["detectable"])
        text += (
            " With so many pairs, as spread as these are, a true difference of "
            f"{least} points is found four times out of five, a smaller one less often."
        )
    return text + _pair_by_pair(row)


def _by_image(row: Row) -> str:
    """McNemar's test, where predictions were compared."""
    if row["mcnemar_p"] == NOT_AVAILABLE:
        return ""
    p_value = numbers.probability(row["mcnemar_p"])
    return (
        f" Image by image, the model alone is right on {row['only_with_right']}, its "
        f"twin alone on {row['only_without_right']} (McNemar’s exact test: p "
        f"{p_value})."
    )


def _pair_by_pair(row: Row) -> str:
    """The differences behind a mean, which a reader may judge by eye."""
    if row["by_seed"] == NOT_AVAILABLE:
        return ""
    gains = [float(pair.split(": ")[1]) for pair in row["by_seed"].split("; ")]
    shown = ", ".join(escape(numbers.points(gain)) for gain in gains)
    higher = sum(gain > 0 for gain in gains)
    p_value = numbers.probability(row["sign_p"])
    middle = escape(numbers.points(row["median_difference"]))
    return (
        f" Pair by pair: {shown}; {higher} of {len(gains)} gain (exact sign test: p "
        f"{p_value}), the median is {middle}."
    )
