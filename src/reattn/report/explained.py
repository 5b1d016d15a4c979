"""Captions of figures that are read alike: the first of them alone explains."""

from reattn.figures.credits import credit
from reattn.report.figures import Figure
from reattn.report.markdown import Markdown, escape, sentence
from reattn.report.numbering import Numbering


class Explanations:
    """Remembers which figure explained what, and shortens later captions.

    Args:
        numbering: Gives references to figures.
    """

    def __init__(self, numbering: Numbering):
        self._numbering = numbering
        self._first: dict[tuple[str, str], str] = {}

    def caption(self, figure: Figure, identifier: str) -> Markdown:
        """A figure's caption, or what it shows and the figure that is read alike.

        Args:
            figure: The figure; its caption begins with a sentence of its own.
            identifier: What references to it name.
        """
        _, _, explanation = figure.caption.partition(". ")
        credits = " ".join(credit(figure.image or ""))
        explanation = explanation.removeprefix(credits).strip()
        first = self._first.setdefault((figure.kind, explanation), identifier)
        if first == identifier or not explanation:
            return escape(figure.caption)
        seen = self._numbering.reference(first)
        parts = [sentence(figure.alt), escape(credits), f"Read as {seen}."]
        return Markdown(" ".join(part for part in parts if part))
