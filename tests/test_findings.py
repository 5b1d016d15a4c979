"""docs/findings.md says what the committed tables say, row by row."""

import csv
from pathlib import Path

from conftest import ROOT

from reattn.report import numbers

PAGE = (ROOT / "docs" / "findings.md").read_text()
TWINS = ("d1-cpu", "audit-cpu")


def rows(study: str, table: str) -> list[dict[str, str]]:
    """Rows of a committed table."""
    path = Path(ROOT) / "results" / study / "tables" / f"{table}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def change(row: dict[str, str], low: str, high: str) -> str:
    """A difference with its interval, in points."""
    ends = numbers.interval(row[low], row[high], numbers.points)
    return f"{numbers.points(row['difference'])} ({ends})"


def price(study: str, row: dict[str, str]) -> str:
    """A line of the table of deviations."""
    told = (row["deviation"], row["label"], study, row["n"], change(row, "low", "high"))
    return f"| {' | '.join(told)} |"


def projection(row: dict[str, str]) -> str:
    """A line of the table of maps."""
    accuracy = numbers.percent(row["accuracy_mean"])
    against = change(row, "difference_low", "difference_high")
    told = (row["label"], accuracy, against if row["compared_with"] != "n/a" else "")
    return f"| {' | '.join(told)} |".replace("|  |", "| |")


def table_below(heading: str) -> list[str]:
    """The lines of a section's table, without its head."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("|")][2:]


def test_every_price_that_a_twin_measured_is_there():
    """In the order of the tables, and with their numbers."""
    assert table_below("What the authors' deviations cost") == [
        price(study, row)
        for study in TWINS
        for row in rows(study, "audit")
        if row["twin"] != "n/a" and row["status"] == "measured"
    ]


def test_every_form_without_some_map_is_there():
    """With its accuracy, and its difference from the model with all maps."""
    assert table_below("Why queries, keys and values have maps of their own") == [
        projection(row) for row in rows("projections-cpu", "projections")
    ]
