"""The sentences of attention figures: headings, captions, descriptions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reattn.figures.credits import credit

Meta = Mapping[str, Any]


@dataclass(frozen=True)
class Subject:
    """What one attention figure is about.

    Attributes:
        meta: Description of the arrays.
        image: Name of the image.
        query: Row and column of the query pixel; None: average over queries.
        positions: Number of queries that an average is over; None: it differs.
        has_token: Whether a class token takes part of the attention.
    """

    meta: Meta
    image: str
    query: tuple[int, int] | None
    positions: int | None = None
    has_token: bool = False

    @property
    def what(self) -> str:
        """Whose attention is shown."""
        if self.query is not None:
            row, column = self.query
            return f"the query at pixel row {row}, column {column} (framed)"
        count = f"all {self.positions} queries" if self.positions else "all queries"
        return f"averaged over {count}"

    def grid_lines(self) -> list[str]:
        """Small print above a grid of maps."""
        first = f"Attention of {self.what} to every key position."
        whose = "query's"
        if self.query is None:
            first = f"Attention to every place in the image, {self.what}."
            whose = "average query's"
        if self.meta.get("image_independent"):
            first += " The maps are the same for every image."
        numbers = f"Under each map: its maximum, in % of the {whose} attention"
        if self.has_token:
            numbers += "; in grey below, the % that goes to the class token"
        return [first, f"{numbers}.", provenance(self.meta)]

    def local_lines(self) -> list[str]:
        """Small print above tiles of local weights."""
        softmax = self.meta["normalised"]
        kind = "Probabilities" if softmax else "Weights (no softmax)"
        of = ", " if self.query is None else " of "
        first = f"{kind} over the 3×3 neighbourhood{of}{self.what}."
        second = (
            "One tile a weight channel, its middle cell the query itself; "
            "each call has its own scale, printed at its left."
        )
        if softmax:
            second += " Uniform would be 1/9, 0.11."
        return [first, second, provenance(self.meta)]

    def caption(self, lines: list[str]) -> str:
        """A caption in whole sentences."""
        first = f"{self.meta['label']}, {self.image}."
        sentences = [first, *credit(self.image), *lines]
        return in_whole(sentences, self.meta.get("reduced"))

    def alt(self, shape: str) -> str:
        """A description for those who cannot see the figure."""
        return f"{shape} for {self.meta['label']}: {self.what}, image {self.image}."


def provenance(meta: Meta) -> str:
    """Study, seed and data that a figure comes from."""
    parts = [f"Study {meta['study']}", f"seed {meta['seed']}"]
    if meta.get("data_source"):
        parts.append(str(meta["data_source"]))
    return ", ".join(parts) + "."


def in_whole(sentences: list[str], reduced: str | None) -> str:
    """Sentences as one text, with how the study falls short at the end."""
    return " ".join([*sentences, *([reduced_sentence(reduced)] if reduced else [])])


def reduced_sentence(reason: str) -> str:
    """How a study falls short of the report, as one sentence."""
    return f"Reduced study: {reason.strip().rstrip('.')}."
