"""Sentences that follow from what was measured, whatever it was."""

from collections.abc import Callable, Sequence

from reattn.report import numbers
from reattn.report.comparisons import common_kind, comparison
from reattn.report.context import Context
from reattn.report.gains import gains, image_by_image
from reattn.report.kinds import kinds
from reattn.report.markdown import Markdown, escape, labels, listing
from reattn.report.models import Model, extremes


class Sentences:
    """Says what the tables show, or what is missing and why."""

    def __init__(self, context: Context):
        self._context = context

    def extent(self) -> Markdown:
        """How many models have an accuracy, and which have none."""
        context = self._context
        total, measured = len(context.models), len(context.measured)
        text = f"{measured} of the {total} models of this study have an accuracy."
        if measured == total > 1:
            text = f"All {total} models of this study have an accuracy."
        missing = [
            f" {model.name} has none: {escape(model.reason('accuracy_mean'))}."
            for model in context.unmeasured
        ]
        return Markdown("".join([text, *missing]))

    def kinds(self, reference: Callable[[str], str]) -> Markdown:
        """What the models are, group by group, with links by `reference`."""
        return kinds(self._context, reference)

    def ranking(self) -> Markdown:
        """The highest and the lowest accuracy."""
        ranked = sorted(
            self._context.measured, key=lambda model: model.number("accuracy_mean")
        )
        if len(ranked) < 2:
            return Markdown("Too few models have an accuracy to rank them.")
        low, high = ranked[0], ranked[-1]
        ruined = (
            f", which the authors’ evaluation in training mode finds at {low.authors} %"
            if low.modes_differ
            else ""
        )
        return Markdown(
            f"The highest accuracy is that of {high.name} with {high.accuracy} %, "
            f"the lowest that of {low.name} with {low.accuracy} %{ruined}."
        )

    def asked(self, question: str, variant: str, other: str) -> Markdown:
        """A question and what two models' accuracies say; empty if one is not here."""
        rows = self._context.tables["comparisons"]
        for row in rows:
            if (row["variant"], row["other"]) == (variant, other):
                told = comparison(row, common_kind(rows))
                return Markdown(f"{question} {told}".strip() + " ")
        return Markdown("")

    def intervals(self) -> Markdown:
        """What stands in brackets behind every difference; empty if kinds differ."""
        kind = common_kind(self._context.tables["comparisons"])
        if not kind:
            return Markdown("")
        return Markdown(
            f"In brackets behind a difference stands its {numbers.CONFIDENCE} interval "
            f"({escape(kind)})."
        )

    def left_out(self) -> Markdown:
        """Which models of the report this study does not have; empty if it has all."""
        context = self._context
        reported = [n for n, v in context.known.items() if v.group == "report"]
        here = [name for name in reported if name in context.models]
        absent = [name for name in reported if name not in here]
        if not absent:
            return Markdown("")
        count = f"Of the report’s {len(reported)} models"
        if len(here) < len(absent):
            told = f"only {self._names(here)}" if here else "none"
            return Markdown(
                f"{count} this study has {told}; what shows or compares others is left "
                "out."
            )
        verb = "is" if len(absent) == 1 else "are"
        return Markdown(
            f"{count}, {self._names(absent)} {verb} no part of this study; what shows "
            "or compares them is left out."
        )

    def _names(self, variants: Sequence[str]) -> Markdown:
        return labels(map(self._context.label_of, variants))

    def seeds(self) -> Markdown:
        """What intervals and differences mean with this many seeds."""
        count = len(self._context.study.seeds)
        if count > 1:
            return Markdown(
                f"Every model is trained with {count} seeds; the intervals are "
                "Student’s t intervals of the mean over seeds."
            )
        return Markdown(
            "Every model is trained once. The intervals are Wilson’s [@wilson1927] "
            "for the share of correct test images; they do not cover the chance of "
            "initialisation and order, so that a small difference between two models "
            "is no evidence of a real one."
        )

    def against_published(self, models: Sequence[Model]) -> Markdown:
        """How far the authors' protocol lands from the published numbers."""
        gaps = [(model.name, model.from_published) for model in models]
        parts = [
            f"{name} {escape(numbers.points(gap))}"
            for name, gap in gaps
            if gap is not None
        ]
        if not parts:
            return Markdown(
                "No model of this table has both a measured and a published accuracy."
            )
        text = (
            "Measured minus published accuracy, both by the authors’ protocol, in "
            f"points: {', '.join(parts)}."
        )
        if self._context.study.reduced:
            text += (
                " This study is reduced, so these differences do not judge the "
                "published numbers."
            )
        return Markdown(text)

    def modes(self) -> Markdown:
        """Which models do far better in training mode than in evaluation mode."""
        apart = [model for model in self._context.measured if model.modes_differ]
        if not apart:
            return Markdown(
                "In no model does the authors’ evaluation in training mode find an "
                "accuracy above that in evaluation mode by more than the width of its "
                "interval."
            )
        parts = [Markdown(f"{model.name} ({model.both_modes})") for model in apart]
        return Markdown(
            "Training mode and evaluation mode differ by more than the width of an "
            f"interval in {listing(parts)}; in brackets, the best evaluation in "
            "training mode and the best in evaluation mode, on the same images. In "
            "evaluation mode batch normalisation uses running averages of its "
            "statistics. Where one layer serves several passes, as in the "
            "hierarchical SAN, these average over passes whose statistics need not be "
            "alike, and may fit none of them; the headline is then low for a reason "
            "that the authors’ evaluation does not show (D3)."
        )

    def gains(self) -> Markdown:
        """In how many pairs the hierarchical model is more accurate."""
        return gains(self._context)

    def image_by_image(self) -> Markdown:
        """How the pairs compare on each image, where that was tested."""
        return image_by_image(self._context)

    def shares(self, **words: str) -> Markdown:
        """Which part of an ordinary model's size or time the hierarchical one has.

        Args:
            words: What a quantity of hierarchical.csv is called, by its name.
        """
        pairs = self._context.pairs
        found = {
            told: extremes(pair.share(quantity) for pair in pairs)
            for quantity, told in words.items()
        }
        parts = [
            Markdown(f"{_span(*ends)} of the {told}")
            for told, ends in found.items()
            if ends
        ]
        missing = [told for told, ends in found.items() if not ends]
        text = ""
        if parts:
            text = (
                "Beside their ordinary versions the hierarchical models have "
                f"{listing(parts)}."
            )
        if missing:
            text += f" No pair has both values of {listing(missing)} to compare."
        return Markdown(text.strip())

    def measuring(self) -> Markdown:
        """On what the times were taken."""
        facts = self._context.measurement
        if not facts:
            return Markdown("FLOPs and times have not been measured yet.")
        device = facts.get("device_name") or facts.get("device", "n/a")
        threads = facts.get("threads", "n/a")
        return escape(
            f"Times are means over {facts.get('iterations', 'n/a')} passes of one "
            f"image after {facts.get('warmup', 'n/a')} passes of warm-up; "
            f"device: {device}; "
            f"CPU threads: {threads}; precision: {facts.get('precision', 'n/a')}."
        )


def _span(least: float, greatest: float) -> str:
    low, high = (f"{end:.1f} %" for end in (least, greatest))
    return low if low == high else f"{low} to {high}"
