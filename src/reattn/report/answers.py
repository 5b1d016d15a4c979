"""Sentences that answer the study's questions from its tables."""

from reattn.report import numbers
from reattn.report.claim_tables import interval, verdict_counts
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape, listing, sentence
from reattn.tables.cells import NOT_AVAILABLE, split_reasons
from reattn.tables.differences import OVER_IMAGES

Row = dict[str, str]


class Answers:
    """Says which claims hold, what departures cost, and what is not known."""

    def __init__(self, context: Context):
        self._context = context

    def verdicts(self) -> Markdown:
        """How many claims have which verdict."""
        rows = self._context.tables["claims"]
        counts = verdict_counts(rows)
        parts = [f"{count} {verdict}" for verdict, count in counts.items() if count]
        if not parts:
            return Markdown("No claim has been judged.")
        return Markdown(f"Of {len(rows)} claims, {listing(parts)}.")

    def untested(self) -> list[Markdown]:
        """Claims that this study cannot judge, by their reason."""
        found: dict[str, list[str]] = {}
        for row in self._context.tables["claims"]:
            if row["verdict"] == "not tested":
                reasons = split_reasons(row["reason"])
                why = reasons.get("verdict") or next(iter(reasons.values()), "")
                found.setdefault(why, []).append(f"`{row['claim']}`")
        return [
            Markdown(f"{sentence(why)} {listing(map(Markdown, names))}.")
            for why, names in found.items()
        ]

    def prices(self) -> list[Markdown]:
        """One sentence a departure and model: what putting it right changes."""
        return [_price(row) for row in self._context.priced if _is_twin(row)]

    def not_priced(self) -> list[Markdown]:
        """Twins that this study says nothing of, by departure and reason."""
        found: dict[tuple[str, str], list[str]] = {}
        for row in self._context.unpriced:
            reasons = split_reasons(row["reason"])
            why = reasons.get("difference") or next(iter(reasons.values()), "")
            # Which of both is not there is told by the table.
            found.setdefault((row["deviation"], why.split(":")[0]), []).append(
                row["label"]
            )
        return [
            Markdown(f"{name} in {listing(labels)}: {escape(why)}.")
            for (name, why), labels in found.items()
        ]

    def unpriceable(self) -> Markdown:
        """Departures that no twin prices."""
        names = [
            entry["id"]
            for entry in self._context.deviations
            if not entry.get("twins") and not entry.get("columns")
        ]
        return Markdown(f"{listing(names)} have no twin; the ledger says why.")


def _is_twin(row: Row) -> bool:
    return row["twin"] != NOT_AVAILABLE and row["twin_label"] != NOT_AVAILABLE


def _price(row: Row) -> Markdown:
    gain = numbers.points(row["difference"])
    name = f"**{row['deviation']}** in *{escape(row['label'])}*"
    text = f"{name}: put right, {escape(gain)} points"
    bounds = interval(row["low"], row["high"], numbers.points)
    if bounds == NOT_AVAILABLE:
        return Markdown(f"{text}; {escape(row['interval_kind'])}.")
    kind = escape(row["interval_kind"])
    verdict = _sign(float(row["low"]), float(row["high"]))
    if row["interval_kind"] == OVER_IMAGES:
        verdict = "That is one run each, and says nothing of other seeds."
    spread = f"{numbers.CONFIDENCE} interval {escape(bounds)}; {kind}"
    return Markdown(
        f"{text} ({spread}; runs: {row['n']}). {verdict}{_pair_by_pair(row)}"
    )


def _pair_by_pair(row: Row) -> str:
    """The differences behind a mean, which a reader may judge by eye."""
    if row["by_seed"] == NOT_AVAILABLE:
        return ""
    gains = [pair.split(": ")[1] for pair in row["by_seed"].split("; ")]
    shown = ", ".join(escape(numbers.points(gain)) for gain in gains)
    return f" Pair by pair: {shown}."


def _sign(low: float, high: float) -> str:
    if low > 0:
        return "It costs accuracy in this setting."
    if high < 0:
        return "It raises accuracy in this setting."
    return "The interval contains zero: no cost is shown, and none is excluded."
