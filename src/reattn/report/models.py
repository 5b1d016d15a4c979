"""Rows of the tables, as the text speaks of them."""

from collections.abc import Iterable, Sequence

from reattn.report import numbers
from reattn.report.markdown import Markdown, escape, listing
from reattn.tables.cells import NOT_AVAILABLE, split_reasons

Cells = dict[str, str]


class Model:
    """One row of models.csv."""

    def __init__(self, cells: Cells):
        self.cells = cells
        self.reasons = split_reasons(cells["reason"])
        self.id, self.label = cells["variant"], cells["label"]
        self.status = cells["status"]

    @property
    def name(self) -> Markdown:
        """The label as it stands in a sentence."""
        return Markdown(f"*{escape(self.label)}*")

    @property
    def is_measured(self) -> bool:
        """Whether it has an accuracy."""
        return self.cells["accuracy_mean"] != NOT_AVAILABLE

    @property
    def accuracy(self) -> str:
        """Mean accuracy of the last epoch."""
        return numbers.percent(self.cells["accuracy_mean"])

    @property
    def _interval(self) -> tuple[float | None, float | None]:
        return self.number("accuracy_ci_low"), self.number("accuracy_ci_high")

    @property
    def has_interval(self) -> bool:
        """Whether its accuracy has an interval."""
        return None not in self._interval

    @property
    def accuracy_with_interval(self) -> str:
        """Accuracy and interval, as far as there are any."""
        if not self.has_interval:
            return self.accuracy
        low, high = map(numbers.percent, self._interval)
        return f"{self.accuracy} ({low}–{high})"

    def overlaps(self, other: "Model") -> bool:
        """Whether two intervals have a part in common, or one is not known."""
        if not (self.has_interval and other.has_interval):
            return True
        (low, high), (other_low, other_high) = self._interval, other._interval
        return low <= other_high and other_low <= high

    @property
    def authors(self) -> str:
        """Accuracy by the authors' protocol."""
        return numbers.percent(self.cells["accuracy_authors_mean"])

    @property
    def modes_differ(self) -> bool:
        """Whether training mode finds more than evaluation mode, clearly.

        Clearly: by more than the width of the accuracy's interval.
        """
        training = self.number("accuracy_authors_mean")
        evaluation = self.number("accuracy_best_eval_mean")
        low, high = self._interval
        if None in (training, evaluation, low, high):
            return False
        return training - evaluation > high - low

    @property
    def both_modes(self) -> str:
        """Best accuracy in training mode, and in evaluation mode."""
        evaluation = numbers.percent(self.cells["accuracy_best_eval_mean"])
        return f"{self.authors} and {evaluation} %"

    @property
    def published(self) -> str:
        """What the authors published."""
        return numbers.percent(self.cells["published_accuracy"])

    @property
    def is_inferred(self) -> bool:
        """Whether that the published number is this variant's is an inference."""
        return self.cells["published_status"] == "inferred"

    @property
    def from_published(self) -> float | None:
        """Measured minus published accuracy, both by the authors' protocol."""
        measured = self.number("accuracy_authors_mean")
        published = self.number("published_accuracy")
        if measured is None or published is None:
            return None
        return measured - published

    def number(self, column: str) -> float | None:
        """A cell as a number, or None where it is n/a."""
        return numbers.number(self.cells[column])

    def reason(self, column: str) -> str:
        """Why a cell is n/a; empty where it is not."""
        return self.reasons.get(column, "")


class Pair:
    """One row of hierarchical.csv."""

    def __init__(self, cells: Cells):
        self.cells = cells
        self.reasons = split_reasons(cells["reason"])
        self.id, self.ordinary_id = cells["variant"], cells["ordinary"]
        self.label = cells["label"]

    @property
    def name(self) -> Markdown:
        """The hierarchical model's label as it stands in a sentence."""
        return Markdown(f"*{escape(self.label)}*")

    def difference(self, quantity: str) -> float | None:
        """Hierarchical minus ordinary, or None where one is n/a."""
        return numbers.number(self.cells[f"{quantity}_difference"])

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the difference of accuracies, or None where it has none."""
        low, high = (
            numbers.number(self.cells[f"accuracy_difference_{end}"])
            for end in ("low", "high")
        )
        return None if low is None or high is None else (low, high)

    def share(self, quantity: str) -> float | None:
        """The hierarchical version's percentage of the ordinary one's value."""
        change = numbers.number(self.cells[f"{quantity}_difference_percent"])
        return None if change is None else 100 + change


def absences(
    models: Sequence[Model], columns: dict[str, str], further: Sequence[str] = ()
) -> Markdown:
    """A list of what is n/a in a table, and why; empty where nothing is.

    Args:
        models: The table's rows.
        columns: The words for each column, by its name.
        further: What else is not there, as items of the list.
    """
    found: dict[tuple[str, str], list[Markdown]] = {}
    for column, words in columns.items():
        for model in models:
            if reason := model.reason(column):
                labels = found.setdefault((words, reason), [])
                labels.append(model.name)
    lines = [
        f"- {words} of {listing(labels)}: {escape(reason)}."
        for (words, reason), labels in found.items()
    ]
    lines += [f"- {item}" for item in further]
    if not lines:
        return Markdown("")
    return Markdown(
        "\n".join(["::: {.absences}", "Not available (n/a):", "", *lines, ":::"])
    )


def extremes(values: Iterable[float | None]) -> tuple[float, float] | None:
    """Least and greatest of what is known, or None where nothing is."""
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None
