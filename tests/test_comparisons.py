"""What the report compares, and how sure each difference is."""

import re
from pathlib import Path

from made_up_study import made_up_study, write_run

from reattn.tables import make_tables
from reattn.tables.cells import NOT_AVAILABLE, read_table, split_reasons
from reattn.tables.differences import OVER_IMAGES, PAIRED, WELCH

SECTION = Path(__file__).parents[1] / "report" / "sections"
BASE = "learned2d-9h-nocontent"


def rows_of(results: Path, table: str, **changes: object) -> list[dict[str, str]]:
    study, variants = made_up_study(**changes)
    make_tables(study, variants, results)
    return read_table(results / "tables" / f"{table}.csv")


def test_each_question_of_the_text_has_its_row(tmp_path: Path) -> None:
    """The section asks nothing that the table does not answer."""
    text = (SECTION / "03-reproducibility.md.j2").read_text(encoding="utf-8")
    asked = re.findall(r'say\.asked\("[^"]*", "([^"]+)", "([^"]+)"\)', text)
    rows = rows_of(tmp_path, "comparisons")
    assert len(asked) == 7
    assert [(row["variant"], row["other"]) for row in rows] == asked


def test_a_difference_names_its_interval(tmp_path: Path) -> None:
    """One run each: over images; several: Welch's, for these do not start alike."""
    for seed in (0, 1, 2):
        write_run(tmp_path, BASE, seed, accuracy=50.0 + seed)
        write_run(tmp_path, "learned2d-9h-content", seed, accuracy=40.0 + 2 * seed)
    several = rows_of(tmp_path, "comparisons", seeds=[0, 1, 2])[0]
    assert float(several["difference"]) == -9.0
    assert several["kind"] == WELCH
    assert float(several["low"]) < -9.0 < float(several["high"])
    single = rows_of(tmp_path, "comparisons")[0]
    assert (single["kind"], single["n"], single["difference"]) == (
        OVER_IMAGES,
        "1",
        "-10.0",
    )


def test_a_missing_side_is_told(tmp_path: Path) -> None:
    """Without the other's accuracy there is no difference, and the row says why."""
    write_run(tmp_path, BASE)
    row = rows_of(tmp_path, "comparisons")[0]
    assert row["difference"] == row["low"] == row["kind"] == NOT_AVAILABLE
    assert "seed 0 missing" in split_reasons(row["reason"])["difference"]


def test_an_own_variant_is_compared_with_what_it_names(tmp_path: Path) -> None:
    """Who adds a variant finds its difference from the one that the file names."""
    study, variants = made_up_study()
    own = {"group": "own", "compared_with": "resnet18"}
    variants["vit"] = variants["vit"].model_copy(update=own)
    write_run(tmp_path, "vit", accuracy=60.0)
    write_run(tmp_path, "resnet18", accuracy=55.0)
    make_tables(study, variants, tmp_path)
    row = read_table(tmp_path / "tables" / "comparisons.csv")[-1]
    assert (row["variant"], row["other"], row["group"]) == ("vit", "resnet18", "own")
    assert row["difference"] == "5.0"


def test_a_gain_of_equal_beginnings_is_paired(tmp_path: Path) -> None:
    """Hierarchical pairs have their own interval in hierarchical.csv as well."""
    for seed in (0, 1, 2):
        write_run(tmp_path, "vit", seed, accuracy=50.0 + seed, initial_weights="a")
        write_run(tmp_path, "ha-vit", seed, accuracy=53.0 + seed, initial_weights="a")
    rows = rows_of(tmp_path, "hierarchical", seeds=[0, 1, 2])
    row = next(row for row in rows if row["variant"] == "ha-vit")
    assert row["accuracy_difference_kind"] == PAIRED
    assert float(row["accuracy_difference_low"]) == 3.0
    assert float(row["accuracy_difference_high"]) == 3.0
