"""What a report says of its own extent: which models it has, and what they carry."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_study import NAME, made_up_study, make_all_tables, write_run

from reattn.report.attention_tables import attention_table
from reattn.report.carried import carried_without_price
from reattn.report.context import Context, read_context
from reattn.report.kinds import KINDS, kinds
from reattn.report.numbering import Numbering
from reattn.report.result_tables import pairs_table
from reattn.tables.cells import NOT_AVAILABLE

ROOT = Path(__file__).parents[1]
TWIN = "learned2d-9h-content-aligned"


def context_of(results: Path, **changes: object) -> Context:
    """A made-up study with one run of each of its models."""
    settings, variants = made_up_study(**changes)
    for name in variants:
        write_run(results, name)
    make_all_tables(settings, variants, results)
    return read_context(NAME, settings, variants, results, ROOT)


def link(section: str) -> str:
    """A reference to a section, as a template's `ref` gives it."""
    return f"[Section](#{section})"


def test_only_models_of_the_report_are_said_to_follow_the_authors(
    tmp_path: Path,
) -> None:
    """A twin is no model of the authors, and one model is no plural."""
    names = ["vit", "ha-vit", TWIN]
    told = kinds(context_of(tmp_path, groups=[], variants=names), link)
    assert told.startswith("2 models are written as the authors’ training code")
    assert "; 1 is a twin of one of the report’s models" in told
    alone = kinds(context_of(tmp_path / "twin", groups=[], variants=[TWIN]), link)
    assert alone.startswith("1 model is a twin")
    assert "training code" not in alone


@pytest.mark.parametrize("group", KINDS)
def test_every_group_leads_to_a_section_that_there_is(group: str) -> None:
    """A link of the first page must not lead nowhere."""
    texts = (ROOT / "report" / "sections").glob("*.j2")
    assert any(f'"{KINDS[group][2]}"' in t.read_text(encoding="utf-8") for t in texts)


def test_a_study_is_held_to_the_deviations_of_its_own_models(tmp_path: Path) -> None:
    """ViT has no content scores to misalign; a recipe is everybody's."""
    told = carried_without_price(context_of(tmp_path, groups=[], variants=["vit"]))
    ids = {line.rpartition("(")[2].rstrip(")") for line in told}
    assert {"D7", "D8", "D9", "D10"} <= ids
    assert not {"D1", "D2", "D5", "D13", "D14"} & ids
    assert not {"D6", "D23"} & ids  # no accuracy depends on these
    assert not {"D3", "D4", "D17"} & ids  # told beside the headline


def test_deviations_with_a_price_are_not_said_to_be_unmeasured(tmp_path: Path) -> None:
    """A twin of D1 in the study prices it."""
    names = ["learned2d-9h-content", TWIN]
    context = context_of(tmp_path, groups=[], variants=names)
    assert {row["deviation"] for row in context.priced} == {"D1"}
    assert not any("(D1)" in line for line in carried_without_price(context))


def test_own_models_carry_what_their_settings_say(tmp_path: Path) -> None:
    """A variant that somebody adds has D8 if its residual is the authors'."""
    context = context_of(tmp_path, groups=[], variants=["vit"])
    own = context.variants["vit"].model_copy(update={"group": "own"})
    put_right = own.model.model_copy(update={"residual": "input"})
    right = own.model_copy(update={"model": put_right})
    for variant, has_it in ((own, True), (right, False)):
        told = carried_without_price(replace(context, variants={"mine": variant}))
        assert any("(D8)" in line for line in told) == has_it


def test_a_pair_names_its_absent_ordinary_model_and_says_that_it_is_absent(
    tmp_path: Path,
) -> None:
    """No reader must know ids, nor guess why a row is n/a."""
    context = context_of(tmp_path, groups=[], variants=["ha-vit"])
    text = pairs_table(context, Numbering(), "table-pairs", "Pairs.")
    assert re.search(r'\| \[ViT[^|]*\{of="vit"\} \| n/a', text)
    assert "- All of *ViT*, and what is compared with it: not in this study." in text


@pytest.mark.parametrize("initial", [NOT_AVAILABLE, "0.25"])
def test_attention_before_training_is_shown_where_it_was_measured(
    tmp_path: Path, initial: str
) -> None:
    """A table in which every bracket is n/a has no brackets."""
    context = context_of(tmp_path, groups=[], variants=["vit"])
    (row, *_) = context.tables["attention"]
    cells = {
        key: "0.5" if key.endswith("_trained") else initial
        for key in row
        if key.endswith(("_trained", "_initial"))
    }
    measured = {**row, **cells, "layer": "all", "n_seeds": "1", "images": "9"}
    context = replace(context, tables={**context.tables, "attention": [measured]})
    assert context.measured_before_training == (initial != NOT_AVAILABLE)
    text = attention_table(context, Numbering(), "table-attention", "Attention.")
    assert "(n/a)" not in text
    assert ("(25.0 %)" in text) == context.measured_before_training
    assert context.attention_extent == "9 test images and 1 run a model"
