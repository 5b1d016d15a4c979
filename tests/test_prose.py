"""What the report says in words: it follows the tables, and its equations hold."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_study import (
    NAME,
    made_up_study,
    make_all_tables,
    write_measurements,
    write_run,
)

from reattn.config import load_variant
from reattn.config.loading import load_variants
from reattn.costs.activations import saved_activations
from reattn.costs.formulas import flops_by_formula
from reattn.costs.parameters import parameters_by_formula
from reattn.report import numbers
from reattn.report.answers import Answers
from reattn.report.comparisons import comparison
from reattn.report.context import Context, read_context
from reattn.report.gains import gains, image_by_image
from reattn.report.limits import limits
from reattn.report.markdown import seeds_told
from reattn.report.naming import with_labels
from reattn.report.prices import Prices
from reattn.report.render import render
from reattn.report.sentences import Sentences
from reattn.tables.agreement import COLUMNS as AGREEMENT
from reattn.tables.cells import NOT_AVAILABLE, read_table, write_table

ROOT = Path(__file__).parents[1]
SECTIONS = ROOT / "report" / "sections"
PAIR = ("learned2d-9h-content", "ha-learned2d-9h-content")
GRID, CLASSES, PATCH_VALUES, IMAGE_SIZE = 16, 10, 12, 32


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report's models, one run each, hierarchical SAN ruined by evaluation mode."""
    results = tmp_path_factory.mktemp("study") / NAME
    settings, variants = made_up_study(groups=["report", "audit"])
    for place, name in enumerate(variants):
        write_run(results, name, accuracy=60.0 + place % 7, accuracy_authors=61.0)
    ruined = {"accuracy": 10.0, "accuracy_authors": 50.0, "accuracy_best_eval": 11.0}
    write_run(results, "ha-san-pairwise", **ruined)
    write_measurements(results, variants)
    row = {"variant": PAIR[1], "other": PAIR[0], "seed": 0, "reason": ""}
    counts = {"both_right": 90, "only_variant": 2, "only_other": 1, "both_wrong": 7}
    path = results / "measure" / "agreement.csv"
    write_table(path, [row | counts], AGREEMENT)
    make_all_tables(settings, variants, results)
    return results


@pytest.fixture
def context(study: Path) -> Context:
    """What sentences read."""
    settings, variants = made_up_study(groups=["report", "audit"])
    return read_context(NAME, settings, variants, study, ROOT)


@pytest.mark.parametrize("name", [PAIR[0], "learned2d-16h-content"])
def test_the_equations_of_cost_give_the_counted_numbers(name: str) -> None:
    """Parameters and operations, by the symbols of the section on cost."""
    settings = load_variant(name).model
    shared = load_variant(f"ha-{name}").model
    width, heads, hidden = settings.width, settings.heads, settings.feed_forward
    layers, tokens = settings.layers, GRID**2
    maps = 4 if settings.value_projection else 3
    outside = (PATCH_VALUES + 1) * width + (width + 1) * CLASSES
    block = maps * heads * width**2 + 2 * width * hidden
    block += (2 * GRID + 5) * width + hidden
    assert parameters_by_formula(settings, IMAGE_SIZE, CLASSES) == (
        outside + layers * block
    )
    assert parameters_by_formula(shared, IMAGE_SIZE, CLASSES) == outside + block
    products = maps * tokens * heads * width**2 + 2 * tokens * width * hidden
    products += (2 * tokens + GRID) * tokens * heads * width
    entrance = 2 * (PATCH_VALUES * tokens * width + width * CLASSES)
    ordinary = entrance + 2 * layers * products
    saved = 2 * (layers - 1) * tokens * heads * width**2
    assert flops_by_formula(settings, IMAGE_SIZE, CLASSES) == ordinary
    assert flops_by_formula(shared, IMAGE_SIZE, CLASSES) == ordinary - saved


def test_the_equations_of_cost_are_those_of_the_section() -> None:
    """The test above speaks of what the reader sees."""
    text = (SECTIONS / "04-hierarchical-attention.md.j2").read_text(encoding="utf-8")
    assert r"p = m N_h D^2 + 2 D F + (2 g + 5) D + F" in text
    assert r"m T N_h D^2 + (2 T + g) T N_h D + 2 T D F" in text
    assert r"C_{\text{ordinary}} - 2 (L - 1) T N_h D^2" in text
    assert r"B L \left( 3 N_h T^2 + 2 N_h T D \right)" in text


def test_memory_grows_with_depth_as_the_section_says() -> None:
    """Its leading terms are most of what a layer keeps, whoever owns the weights."""
    settings = load_variant(PAIR[0]).model
    shared = load_variant(PAIR[1]).model
    width, heads, tokens = settings.width, settings.heads, GRID**2
    leading = settings.layers * (3 * heads * tokens**2 + 2 * heads * tokens * width)
    kept = saved_activations(settings, IMAGE_SIZE)
    assert 0.75 * kept.each < leading < kept.each
    assert saved_activations(shared, IMAGE_SIZE).each == kept.each


def test_claims_name_models_by_their_labels(study: Path, context: Context) -> None:
    """No reader must know ids; a claim has the same number in both tables."""
    text = render(context, SECTIONS, study / "report")
    table = text[
        text.index("{#table-claims ") : text.index(
            ": [**Table", text.index("{#table-claims ")
        )
    ]
    ids = "|".join(sorted(load_variants(), key=len, reverse=True))
    seen = re.sub(r'\{of="[^}]*\}', "", table)  # marks are told on demand alone
    assert not re.search(rf"(?<![\w-])({ids})(?![\w-])", seen)
    first = context.tables["claims"][0]
    assert f"| [**1.** {first['statement'][:40]}" in table
    assert f"| 1. `{first['claim']}` |" in text


def test_every_claim_stands_in_one_of_two_tables(study: Path, context: Context) -> None:
    """Claims about models that a study lacks do not crowd out those it judges."""
    text = render(context, SECTIONS, study / "report")
    judged, other = (_claims_of(text, name) for name in ("claims", "other-claims"))
    rows = context.tables["claims"]
    assert judged
    assert other
    assert sorted([*judged, *other]) == [*range(1, len(rows) + 1)]
    for place in other:
        assert rows[place - 1]["measured"] == NOT_AVAILABLE
        assert "not in this study" in rows[place - 1]["reason"]
    assert f"leaves out {len(other)} claims" in text


def _claims_of(text: str, table: str) -> list[int]:
    start = text.index(f"{{#table-{table} ")
    rows = text[start : text.index(": [**Table", start)]
    return [int(place) for place in re.findall(r"\*\*(\d+)\.\*\*", rows)]


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        ([4], "seed 4"),
        ([0, 1], "seeds 0 and 1"),
        ([0, 1, 2, 3], "seeds 0 to 3"),
        ([0, 1, 2, 9], "seeds 0, 1, 2 and 9"),
    ],
)
def test_seeds_are_a_range_where_none_is_left_out(seeds: list[int], told: str) -> None:
    """A list of eight seeds says less than its ends, unless one is missing."""
    assert seeds_told(seeds) == told


def test_labels_stand_for_whole_ids_alone() -> None:
    """`vit` in `ha-vit` is no model of its own; other words stay as they are."""
    variants = load_variants()
    text = "ha-vit over vit: -1 (2 to 3); vital, my-vit: resnet18"
    told = with_labels(text, variants)
    assert told == (
        "*Hierarchical ViT* over its ordinary version: -1 (2 to 3); vital, my-vit: "
        "*ResNet18*"
    )


def test_untested_claims_say_what_they_ask_for(context: Context) -> None:
    """A reader learns whether more runs, another scale or other models are lacking."""
    untested = [r for r in context.tables["claims"] if r["verdict"] == "not tested"]
    told = Answers(context).untested()
    asked = re.findall(r"(\d+) for", told)
    assert sum(map(int, asked)) == len(untested)
    assert "for the report’s own size" in told
    assert "for more runs of a model" in told


def test_the_conclusion_tells_claims_by_verdict(context: Context) -> None:
    """Supported before contradicted; untested claims are none of them."""
    told = Answers(context).by_verdict()
    words = [line.split("**")[1] for line in told]
    order = ["Supported", "Contradicted", "Inconclusive"]
    assert words == sorted(words, key=order.index)
    judged = [r for r in context.tables["claims"] if r["verdict"] != "not tested"]
    assert len(told) == sum(r["verdict"] != "true by construction" for r in judged)
    assert any("by published numbers alone" in line for line in told)


def test_a_ruined_pair_is_told_by_the_authors_protocol(context: Context) -> None:
    """Its difference in training mode stands beside the headline's."""
    told = gains(context)
    pair = next(p for p in context.pairs if p.id == "ha-san-pairwise")
    authors = numbers.points(pair.difference("accuracy_authors"))
    headline = numbers.points(pair.difference("accuracy"))
    assert authors != headline
    assert f"is {authors} points instead of {headline}" in told.replace("\\", "")


def test_pairs_of_one_run_are_compared_image_by_image(context: Context) -> None:
    """2 images for the hierarchical model alone, 1 for the other: p = 1."""
    pair = next(p for p in context.pairs if p.id == PAIR[1])
    assert pair.cells["only_hierarchical_right"] == "2"
    assert pair.cells["only_ordinary_right"] == "1"
    assert pair.cells["mcnemar_p"] == "1.0"
    assert f"{pair.name} 2 to 1 (p = 1)" in image_by_image(context)
    other = next(p for p in context.pairs if p.id == "ha-vit")
    assert other.cells["mcnemar_p"] == NOT_AVAILABLE
    assert other.name not in image_by_image(context)


def test_several_seeds_are_not_tested_image_by_image(tmp_path: Path) -> None:
    """Their interval over seeds counts, and the cell says so."""
    for name in PAIR:
        for seed in (0, 1):
            write_run(tmp_path, name, seed, accuracy=60.0 + seed)
    settings, variants = made_up_study(groups=[], variants=[*PAIR], seeds=[0, 1])
    make_all_tables(settings, variants, tmp_path)
    (row,) = read_table(tmp_path / "tables" / "hierarchical.csv")
    assert row["mcnemar_p"] == NOT_AVAILABLE
    assert "mcnemar_p: several seeds" in row["reason"]


def test_limits_name_only_deviations_that_are_followed(context: Context) -> None:
    """What is not followed here (D15, D18 to D22) costs nothing here."""
    (told,) = [line for line in limits(context) if line.startswith("**Deviations.**")]
    named = re.findall(r"D(\d+)(?: to D(\d+))?", told)
    ids = {n for a, b in named for n in range(int(a), int(b or a) + 1)}
    followed = {
        int(entry["id"][1:])
        for entry in context.deviations
        if entry["followed"] in ("yes", "partly")
    }
    assert ids
    assert ids <= followed


def test_prices_in_brief_name_a_deviation_once(context: Context) -> None:
    """Four models with D1 are one sentence."""
    told = Prices(context).in_brief()
    assert told.count("Putting D1 right") == 1
    assert told.count("Putting") == len({r["deviation"] for r in context.priced})


def test_shares_are_one_sentence(context: Context) -> None:
    """Quantities side by side; one that no pair has is named as such."""
    told = Sentences(context).shares(params="parameters", published="fame")
    assert re.fullmatch(
        r"Beside their ordinary versions the hierarchical models have [\d., %to]+ of "
        r"the parameters and [\d., %to]+ of the fame\.",
        told,
    )
    empty = replace(context, tables={**context.tables, "hierarchical": []})
    assert "No pair has both values of parameters" in Sentences(empty).shares(
        params="parameters"
    )


def test_the_constructed_task_is_of_no_study(study: Path, context: Context) -> None:
    """Its caption names neither the study nor its images."""
    text = render(context, SECTIONS, study / "report")
    caption = re.search(r"^: \[.*The constructed task.*$", text, re.MULTILINE)[0]
    assert "no images" in caption
    assert NAME not in caption


@pytest.mark.parametrize(("low", "is_open"), [("-1.0", True), ("0.5", False)])
def test_a_comparison_says_when_it_is_open(
    context: Context, low: str, is_open: bool
) -> None:
    """A question is not left to the reader's arithmetic."""
    row = {**context.tables["comparisons"][0], "low": low, "high": "9.0"}
    assert ("do not tell from none" in comparison(row)) == is_open


def test_what_rounds_to_nothing_has_no_minus() -> None:
    """A reader should not look for a meaning in -0.00."""
    assert numbers.points(-0.001) == "+0.00"
    assert numbers.relative(-0.01) == "+0.0 %"
    assert numbers.points(-0.01) == "−0.01"
