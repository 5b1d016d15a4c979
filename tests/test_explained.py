"""Captions, intervals and pairs are told once, and where a reader looks for them."""

from dataclasses import replace
from pathlib import Path

from reattn.report.chance import by_chance
from reattn.report.comparisons import common_kind, comparison
from reattn.report.explained import Explanations
from reattn.report.figures import Figure
from reattn.report.numbering import Numbering
from reattn.tables.cells import NOT_AVAILABLE
from reattn.tables.differences import OVER_IMAGES, WELCH

GRID = Figure(
    path=Path("a.svg"),
    kind="query",
    variant="vit",
    image="china.jpg",
    caption="ViT, china.jpg. Photograph: danielbuechele, CC BY 2.0. Bright is much.",
    alt="2 layers by 9 heads of ViT, image china.jpg.",
)
OTHER = replace(
    GRID,
    image="own.png",
    caption="Own model, own.png. Bright is much.",
    alt="2 layers by 9 heads of own model, image own.png.",
)
ROW = {
    **{"label": "ViT", "other_label": "ResNet18"},
    **{"accuracy": "50.0", "other_accuracy": "60.0", "difference": "-10.0"},
    **{"low": "-12.0", "high": "-8.0", "kind": OVER_IMAGES, "reason": ""},
}


def numbered(explanations: Explanations, numbering: Numbering, *figures) -> list[str]:
    """The captions of figures in a text, with references resolved."""
    captions = []
    for place, figure in enumerate(figures):
        numbering.figure(f"figure-{place}")
        captions.append(explanations.caption(figure, f"figure-{place}"))
    return [numbering.resolve(caption) for caption in captions]


def test_figures_that_are_read_alike_are_explained_once():
    """Whatever the model and the image; the photograph's credit is never lost."""
    numbering = Numbering()
    first, second, third = numbered(
        *(Explanations(numbering), numbering, GRID, OTHER, GRID)
    )
    assert "Bright is much" in first
    assert "Bright is much" not in second + third
    assert (
        "own model, image own.png. Read as [Figure\N{NO-BREAK SPACE}1](#figure-0)."
        in second
    )
    assert "Photograph: danielbuechele, CC BY 2.0" in third


def test_another_explanation_is_given_in_full():
    """Of another kind, or with another scale: nothing is read as what it is not."""
    numbering = Numbering()
    average = replace(GRID, kind="average")
    signed = replace(GRID, caption="SAN, china.jpg. Red is negative.")
    captions = numbered(Explanations(numbering), numbering, GRID, average, signed)
    assert not any("Read as" in caption for caption in captions)


def test_a_caption_of_one_sentence_stays():
    """It has no explanation that another figure could stand for."""
    numbering = Numbering()
    short = replace(GRID, caption="Only this.")
    assert "Read as" not in "".join(
        numbered(Explanations(numbering), numbering, short, short)
    )


def test_one_kind_of_interval_is_named_once():
    """By the text before; a difference without an interval does not count."""
    without = {**ROW, "low": NOT_AVAILABLE, "high": NOT_AVAILABLE, "kind": "one run"}
    assert common_kind([ROW, without, ROW]) == OVER_IMAGES
    told = comparison(ROW, OVER_IMAGES)
    assert "(−12.00 to −8.00)" in told
    assert "one run" in comparison(without, OVER_IMAGES)


def test_kinds_that_differ_are_named_each_time():
    """A reader never takes one interval for the other."""
    rows = [ROW, {**ROW, "kind": WELCH}]
    assert common_kind(rows) == ""
    assert all(
        row["kind"].split(",")[0].split("'")[0] in comparison(row, "") for row in rows
    )


def test_many_intervals_are_read_with_their_number_in_mind():
    """A reader of twenty intervals expects one to leave zero out by chance."""
    ends = [*[("-1.0", "1.0")] * 18, ("0.1", "1.0"), ("-1.0", "-0.1")]
    rows = [{"low": low, "high": high} for low, high in ends]
    missing = {"low": NOT_AVAILABLE, "high": NOT_AVAILABLE}
    told = by_chance([*rows, missing], "low", "high")
    assert "20 intervals" in told
    assert "1.0 of them" in told
    assert told.endswith("2 do.")
    assert by_chance([rows[0], missing], "low", "high") == ""
