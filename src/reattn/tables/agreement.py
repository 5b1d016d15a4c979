"""measure/agreement.csv: which images two models get right, alone or both."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.errors import ReattnError
from reattn.tables.cells import NOT_AVAILABLE, Row, read_table, write_table
from reattn.tables.run_files import UNREADABLE

if TYPE_CHECKING:
    from numpy import ndarray

COUNTS = ("both_right", "only_variant", "only_other", "both_wrong")
COLUMNS = ("variant", "other", "seed", *COUNTS, "reason")
SEVERAL_SEEDS = "several seeds: the interval over seeds counts"
Key = tuple[str, str, str]
Agreement = Mapping[Key, Mapping[str, str]]


def compare_predictions(
    study: Study, variants: Mapping[str, Variant], results: Path
) -> None:
    """Write measure/agreement.csv from the predictions of a study's runs.

    One row a seed and pair: every variant with the one that it is compared with, and
    with its ordinary version. A pair whose predictions are not kept keeps the row that
    the file has.

    Args:
        study: The study.
        variants: Its variants by id.
        results: Its folder.
    """
    path = results / "measure" / "agreement.csv"
    kept = _kept(path)
    rows = []
    for variant, other in _pairs(variants):
        for seed in study.seeds:
            row = _compared(results, variant, other, seed)
            key = (variant, other, str(seed))
            is_new = row.reason(COUNTS[0]) is None or key not in kept
            rows.append(row.as_dict() if is_new else kept[key])
    write_table(path, rows, COLUMNS)


def known_agreement(path: Path) -> dict[Key, dict[str, str]]:
    """Rows of agreement.csv by variant, other and seed.

    Raises:
        ReattnError: the file is missing, torn or foreign.
    """
    rows = read_table(path, "agreement")
    if rows and not set(COLUMNS) <= rows[0].keys():
        study = path.parent.parent.name
        remedy = f"`python -m reattn agreement {study}` makes it"
        raise ReattnError(f"{path} is no table of agreement; {remedy}.")
    return {(row["variant"], row["other"], row["seed"]): row for row in rows}


def agreement_of(results: Path) -> Agreement:
    """What a study's agreement.csv says; nothing where there is none.

    Raises:
        ReattnError: the file is torn or foreign.
    """
    path = results / "measure" / "agreement.csv"
    return known_agreement(path) if path.exists() else {}


def alone_right(cells: Mapping[str, str]) -> tuple[tuple[int, int] | None, str]:
    """Images that the other alone, and the variant alone, gets right; or why not.

    Args:
        cells: A row of agreement.csv; empty where there is none.
    """
    _, only_variant, only_other, _ = (cells.get(name, NOT_AVAILABLE) for name in COUNTS)
    if NOT_AVAILABLE in (only_variant, only_other):
        return None, cells.get("reason") or "not compared image by image"
    return (int(only_other), int(only_variant)), ""


def _kept(path: Path) -> dict[Key, dict[str, str]]:
    """What is known already; nothing of a file that cannot be read."""
    try:
        return known_agreement(path)
    except ReattnError:
        return {}


def _pairs(variants: Mapping[str, Variant]) -> Iterator[tuple[str, str]]:
    for name, variant in variants.items():
        for other in dict.fromkeys([variant.compared_with, variant.ordinary]):
            if other in variants:
                yield name, other


def _compared(results: Path, variant: str, other: str, seed: int) -> Row:
    import numpy

    row = Row(variant=variant, other=other, seed=seed)
    right, faults = [], []
    for name in (variant, other):
        path = results / "runs" / name / f"seed{seed}" / "predictions.npz"
        try:
            with numpy.load(path, allow_pickle=False) as arrays:
                right.append((arrays["label"], arrays["prediction"]))
        except UNREADABLE:
            faults.append(f"no predictions of {name}, seed {seed}, are kept here")
    if not faults:
        faults += _why_not_comparable(*(labels for labels, _ in right))
    counts = _counts(*right) if not faults else dict.fromkeys(COUNTS)
    for column, count in counts.items():
        row.put(column, count, "; ".join(faults))
    return row


def _why_not_comparable(first: "ndarray", second: "ndarray") -> list[str]:
    if not (len(first) and len(second)):
        return ["a run ended without predictions"]
    same = len(first) == len(second) and bool((first == second).all())
    return [] if same else ["the two runs were tested on other images"]


def _counts(first: tuple, second: tuple) -> dict[str, int]:
    """How many images each of the two gets right."""
    one, other = (labels == predicted for labels, predicted in (first, second))
    return {
        "both_right": int((one & other).sum()),
        "only_variant": int((one & ~other).sum()),
        "only_other": int((~one & other).sum()),
        "both_wrong": int((~one & ~other).sum()),
    }
