"""The authors' deviations: what D1 does, and that the ledger and its twins agree."""

import pytest
import torch
from torch import Tensor, nn

from reattn.config import load_variants
from reattn.config.variants import Variant
from reattn.models.build import build_model
from reattn.models.recording import attention_probabilities
from reattn.report.setting_tables import FOLLOWED
from reattn.tables.evaluations import EVALUATIONS
from reattn.tables.ledger import read_ledger

# The ledger ------------------------------------------------------------------

LEDGER = {entry["id"]: entry for entry in read_ledger()}
VARIANTS = load_variants()
TWINS = {
    name: deviation for deviation, e in LEDGER.items() for name in e.get("twins") or ()
}


def changed_settings(twin: Variant, other: Variant) -> dict[str, object]:
    """Settings of the twin's model that are not those of the other."""
    before = other.model.model_dump()
    return {k: v for k, v in twin.model.model_dump().items() if before.pop(k) != v}


def test_ids_of_the_ledger_are_in_order():
    """The report cites them; a gap would be a deviation that nobody can look up."""
    assert list(LEDGER) == [f"D{number}" for number in range(1, len(LEDGER) + 1)]
    assert all(entry["followed"] in FOLLOWED for entry in LEDGER.values())


def test_every_deviation_is_priced_or_says_why_not():
    """By twins, by columns of one run, or not at all: one of the three."""
    for entry in LEDGER.values():
        ways = [key for key in ("twins", "columns", "unpriced") if entry.get(key)]
        assert len(ways) == 1, entry["id"]
    assert [d for d, e in LEDGER.items() if e.get("columns")] == list(EVALUATIONS)


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_differs_in_the_one_setting_that_the_ledger_names(name: str):
    """Otherwise the difference of accuracies would price something else."""
    twin, entry = VARIANTS[name], LEDGER[TWINS[name]]
    other = VARIANTS[twin.compared_with]
    setting, words = entry["setting"].split(": ")
    before, _, after = words.partition(" or ")
    assert changed_settings(twin, other) == {setting: after}
    assert getattr(other.model, setting) == before
    assert twin.model.model_dump().keys() == other.model.model_dump().keys()
    assert (twin.deviation, twin.recipe) == (entry["id"], other.recipe)
    assert (twin.group, other.group) == ("audit", "report")
    assert twin.label.startswith(f"{other.label} (")
    assert twin.source == f"{other.source}, with {entry['id']} put right"


def test_the_ledger_names_every_variant_that_puts_a_deviation_right():
    """One that is missing there would be trained and never be reported."""
    marked = {name: v.deviation for name, v in VARIANTS.items() if v.deviation}
    assert marked == TWINS


def test_every_model_that_has_a_deviation_has_a_twin_for_it():
    """D1, D2, D5, D7 and D8 are priced in each model of the report that has them."""
    for entry in LEDGER.values():
        if not entry.get("twins"):
            continue
        setting, _, words = entry["setting"].partition(": ")
        affected = {
            name
            for name, variant in VARIANTS.items()
            if variant.group == "report"
            and getattr(variant.model, setting, None) == words.split(" or ")[0]
            and getattr(variant.model, "content", True)
        }
        assert {VARIANTS[twin].compared_with for twin in entry["twins"]} == affected


# D1 --------------------------------------------------------------------------

SMALL = {"patch_size": 1, "width": 8, "feed_forward": 8, "heads": 2, "layers": 1}


@pytest.fixture
def _float64():
    """Double precision, so that equality means equality."""
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def two_forms(size: int) -> tuple[nn.Module, nn.Module]:
    """The authors' and the aligned form with the same weights; a patch is a pixel."""
    authors, aligned = (
        build_model(
            "learned2d-9h-content",
            image_size=size,
            num_classes=5,
            content_alignment=alignment,
            **SMALL,
        )
        for alignment in ("authors", "aligned")
    )
    aligned.load_state_dict(authors.state_dict())
    return authors, aligned


def attention_of(model: nn.Module) -> nn.Module:
    return model.encoder.blocks[0].attention


def first_layer(model: nn.Module, images: Tensor) -> Tensor:
    """(batch, heads, i, j, k, l): from query (i, j) to key (k, l)."""
    return attention_probabilities(model, images)[0]


@pytest.mark.usefixtures("_float64")
def test_authors_form_is_the_aligned_form_of_the_transposed_image():
    """Content comes from the transposed place while offsets stay where they are.

    authors(x)[i, j, k, l] and aligned(transposed x)[i, j, k, l] are both the softmax
    over (k, l) of q(j, i) . k(l, k) + q1(j, i) . row[l - j] + q2(j, i) . column[k - i],
    where q and k are those of x.
    """
    (authors, aligned), images = two_forms(5), torch.randn(2, 3, 5, 5)
    theirs = first_layer(authors, images)
    torch.testing.assert_close(theirs, first_layer(aligned, images.transpose(2, 3)))
    assert not torch.allclose(theirs, first_layer(aligned, images), atol=1e-2)


@pytest.mark.usefixtures("_float64")
def test_authors_form_at_the_transposed_positions_of_the_aligned_form():
    """authors[b, h, i, j, k, l] = aligned[b, h, j, i, l, k], were offsets exchanged.

    At transposed positions the offset along rows is that along columns. So the aligned
    form needs the other table for each, and the halves of queries, one for each table,
    exchanged; with them those of keys, which leaves q . k as it was. Without embeddings
    the equality holds as it stands, which is tested beside the other equations.
    """
    (authors, aligned), images = two_forms(5), torch.randn(2, 3, 5, 5)
    theirs, exchanged = attention_of(authors), attention_of(aligned)
    exchanged.tables.row.load_state_dict(theirs.tables.column.state_dict())
    exchanged.tables.column.load_state_dict(theirs.tables.row.state_dict())
    with torch.no_grad():
        for name in ("query", "key"):
            weight = getattr(theirs, name).weight.unflatten(0, (2, 2, 4))
            getattr(exchanged, name).weight.copy_(weight.flip(1).flatten(0, 2))
    ours = first_layer(aligned, images)
    torch.testing.assert_close(
        first_layer(authors, images), ours.permute(0, 1, 3, 2, 5, 4)
    )


def relative_scores(model: nn.Module, images: Tensor) -> Tensor:
    """Scores less that of the query's own position, which no softmax can hide."""
    logarithms = first_layer(model, images).log()
    own = torch.einsum("bhijij->bhij", logarithms)
    return logarithms - own[..., None, None]


def part(scores: Tensor, rows: slice, columns: slice) -> Tensor:
    """Pairs of which both positions lie in these rows and columns."""
    return scores[:, :, rows, columns, rows, columns]


@pytest.mark.usefixtures("_float64")
def test_scores_move_with_the_content_in_the_aligned_form_alone():
    """Content moves one row down, two columns left; the authors' scores elsewhere.

    Theirs move two rows up and one column to the right.
    """
    images = torch.randn(2, 3, 7, 7)
    moved = images.roll((1, -2), dims=(2, 3))
    first, last = slice(None, -1), slice(1, None)  # before and after one row down
    left, right = slice(None, -2), slice(2, None)  # after and before two to the left
    for model, follows in zip(two_forms(7), (False, True), strict=True):
        before, after = relative_scores(model, images), relative_scores(model, moved)
        expected, found = part(before, first, right), part(after, last, left)
        assert torch.allclose(found, expected, atol=1e-9) == follows
        expected, found = part(before, right, first), part(after, left, last)
        assert torch.allclose(found, expected, atol=1e-9) != follows


@pytest.mark.usefixtures("_float64")
def test_a_marked_pixel_draws_attention_to_another_place_in_the_authors_form():
    """The mark at (2, 11): every query looks there, or, by D1, at (11, 2)."""
    image = torch.ones(1, 3, 16, 16)
    image[:, :, 2, 11] = 3.0
    for model, place in zip(two_forms(16), [(11, 2), (2, 11)], strict=True):
        attention = attention_of(model)
        nn.init.zeros_(model.patches.projection.bias)
        attention.key.load_state_dict(attention.query.state_dict())
        for table in attention.tables.parameters():
            nn.init.zeros_(table)
        maps = first_layer(model, image).flatten(0, 3).flatten(1)
        assert (maps.argmax(dim=1) == place[0] * 16 + place[1]).all()
