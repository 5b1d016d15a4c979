"""What a run writes down, epoch by epoch."""

import csv
import io
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from reattn.files import write_text


@dataclass(frozen=True)
class Epoch:
    """One line of history.csv; what was not evaluated is None.

    Accuracies are in percent. `test_accuracy_authors` is in training mode (D3),
    `test_accuracy_eval` in eval mode, both on the evaluation images.
    """

    epoch: int
    learning_rate: float
    train_loss: float
    train_accuracy: float
    test_accuracy_eval: float | None
    test_accuracy_authors: float | None
    validation_accuracy: float | None
    seconds: float


def write_history(path: Path, epochs: list[Epoch]) -> None:
    """Write history.csv; what was not evaluated is an empty field."""
    text = io.StringIO()
    names = [field.name for field in fields(Epoch)]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(epoch) for epoch in epochs)
    write_text(path, text.getvalue())


def best(epochs: list[Epoch], column: str) -> float | None:
    """The largest value of a column, or None where nothing was evaluated."""
    values = [getattr(epoch, column) for epoch in epochs]
    return max((value for value in values if value is not None), default=None)
