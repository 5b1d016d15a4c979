"""What the report promises: one text, two formats, nothing invented or lost."""

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from made_up_study import (
    NAME,
    made_up_study,
    make_all_tables,
    write_all_figures,
    write_measurements,
    write_run,
)

from reattn.errors import ReattnError
from reattn.files import write_json
from reattn.report import build_report
from reattn.report.context import read_context
from reattn.report.gains import gains
from reattn.report.html import make_html
from reattn.report.limits import limits
from reattn.report.markdown import code, escape, sentence, spans
from reattn.report.models import Pair
from reattn.report.render import render

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "report"
NOTE = "Re-encoded as JPEG: accuracies are not those of the original bytes."
CHANGES = {
    "data": {"source": "digits", "image_size": 32, "note": NOTE},
    "overrides": {"variants": {"vit": {"width": 64}}},
}
# An explorer with something to show, as far as the text needs to know.
INDEX = {
    "study": NAME,
    "images": [],
    "variants": [{"id": "vit", "packs": []}],
    "pairs": [],
}
REASON = "loss is not finite at step 50"


def fill(results: Path) -> None:
    """A study as it happens: most runs well, one diverged, one missing."""
    study, variants = made_up_study(**CHANGES)
    for place, name in enumerate(variants):
        if name != "ha-san-patchwise":
            write_run(results, name, accuracy=60.0 + place)
    lost = {"accuracy": None, "accuracy_authors": None, "accuracy_best_eval": None}
    write_run(results, "vit", 0, "diverged", REASON, **lost)
    write_measurements(results, variants)
    write_all_figures(results, variants)
    make_all_tables(study, variants, results)


def build(results: Path) -> None:
    study, variants = made_up_study(**CHANGES)
    build_report(NAME, study, variants, results, ROOT)


def text_of(results: Path, **changes: object) -> str:
    """Only the Markdown, which takes no time."""
    study, variants = made_up_study(**{**CHANGES, **changes})
    make_all_tables(study, variants, results)
    context = read_context(NAME, study, variants, results, ROOT)
    return render(context, SOURCES / "sections", results / "report")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole report, in a folder whose name is no easy one."""
    results = tmp_path_factory.mktemp("pap'er é (1)") / NAME
    fill(results)
    build(results)
    return results


def page_of(built: Path) -> str:
    return (built / "report" / "report.html").read_text(encoding="utf-8")


def plain(page: str) -> str:
    """The words of a page, without styles, scripts and what scripts read."""
    page = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)).replace("\xa0", " ")


def print_of(built: Path) -> str:
    from pypdf import PdfReader

    reader = PdfReader(built / "report" / "report.pdf")
    text = " ".join(page.extract_text() for page in reader.pages)
    return re.sub(r"\s+", " ", text)


def test_both_formats_carry_the_same_numbers(built: Path) -> None:
    """Case D09: figures, tables and sections are numbered alike on page and print."""
    page, printed = plain(page_of(built)), print_of(built)
    names = re.findall(r"\*\*((?:Figure|Table) \d+[a-z]?)\.\*\*", _text(built))
    assert len(names) == len(set(names)) > 30
    for name in names:
        assert f"{name}." in page
        assert f"{name}." in printed
    for heading in re.findall(r"^##? (.+?) \{#", _text(built), re.MULTILINE):
        assert heading.replace("\\", "") in page


def _text(built: Path) -> str:
    return (built / "report" / "report.md").read_text(encoding="utf-8")


def test_figures_and_tables_have_the_numbers_of_the_original(built: Path) -> None:
    """Tables 1, 2, 3 and Figures 6, 7, 8 are what they are in the report."""
    text = _text(built)
    assert re.search(r"\*\*Table 1\.\*\* Accuracy of the models with 9 heads", text)
    assert re.search(r"\*\*Table 2\.\*\* Accuracy of the models with 16 heads", text)
    assert re.search(r"\*\*Table 3\.\*\* Each model beside its hierarchical", text)
    for number, file in {
        "6": "diagrams/ordinary-attention.svg",
        "7": "diagrams/hierarchical-attention.svg",
        "8a": "attention/ha-learned2d-9h-content/ha-learned2d-9h-content_query.svg",
        "8b": "attention/ha-learned2d-9h-content/ha-learned2d-9h-content_average.svg",
    }.items():
        assert re.search(rf"\*\*Figure {number}\.\*\*[^\n]*\(<[^\n]*{file}>\)", text)


def test_the_order_is_the_original_one(built: Path) -> None:
    """Summary to conclusion, references, then appendices A to F and B.1 to B.10.

    Claims, deviations and projections come before the conclusion.
    """
    headings = re.findall(r"^##? (.+?) \{#", _text(built), re.MULTILINE)
    firsts = [heading.split()[0] for heading in headings]
    numbers = map(str, range(1, 11))
    chapters = ["Reproducibility", *numbers, "References", *"ABCDEF"]
    assert [first for first in firsts if "." not in first] == chapters
    assert [f for f in firsts if f.startswith("B.")][:10] == [
        f"B.{number}" for number in range(1, 11)
    ]


def test_the_page_asks_no_server(built: Path) -> None:
    """Every image and style is inside; links are only for readers to follow."""
    page = page_of(built)
    sources = re.findall(r'(?:src|srcset|data|poster)="([^"]{0,40})', page)
    assert sources
    assert all(source.startswith("data:") for source in sources)
    assert not re.search(r"<(link|iframe|object|embed)\b|<script[^>]*\bsrc", page)
    assert not re.search(r"@import|url\(", page)


def test_links_on_the_page_lead_somewhere(built: Path) -> None:
    """No reference without its target, no two targets of one name."""
    page = page_of(built)
    targets = re.findall(r'\bid="([^"]+)"', page)
    assert len(targets) == len(set(targets))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(targets)


def test_images_on_the_page_are_whole(built: Path) -> None:
    """An embedded SVG is the file, up to white space."""
    from urllib.parse import unquote

    page = page_of(built)
    images = re.findall(r'src="data:image/svg\+xml,([^"]+)"', page)
    shown = {unquote(image).strip() for image in images}
    files = {
        " ".join(path.read_text().split()) for path in built.glob("figures/**/*.svg")
    }
    assert shown <= files
    assert len(shown) > 30


def test_what_is_missing_is_said_with_its_reason(built: Path) -> None:
    """A diverged model is a marked row and a sentence, on page and print."""
    for text in (plain(page_of(built)), print_of(built)):
        assert "ViT has none: seed 0 diverged (loss is not finite at step 50)" in text
        assert "Hierarchical SAN (patchwise) has none: seed 0 missing" in text


def test_a_reduced_study_says_so_everywhere(built: Path) -> None:
    """At the top, in every table's caption, and where numbers are compared."""
    text = _text(built)
    assert text.index("A reduced study") < text.index("# Reproducibility Summary")
    captions = re.findall(r"^: \[\*\*Table \d+\.\*\*.*$", text, re.MULTILINE)
    assert len(captions) >= 8
    others = [caption for caption in captions if "a reduced study" not in caption]
    assert len(others) == 1
    assert "no setting of a study enters" in others[0]
    assert "these differences do not judge the published numbers" in text


def test_a_full_study_does_not_call_itself_reduced(tmp_path: Path) -> None:
    """Without `reduced`, no sentence speaks of a reduced study."""
    text = text_of(
        tmp_path,
        reduced=None,
        data={"source": "cifar10", "image_size": 32},
        training={"device": "gpu", "wandb": "offline"},
        overrides={},
    )
    assert "reduced study" not in text
    assert "study is reduced" not in text


def test_provenance_is_stated(built: Path) -> None:
    """Data and its note, device, seeds, commit, threads, precision."""
    page = plain(page_of(built))
    for fact in (
        NOTE,
        "Seed 0.",
        "A made-up processor",
        "0123456789abcdef",
        "threads a run: 1",
        "precision: fp32",
    ):
        assert fact in page


def test_an_empty_study_still_makes_a_report(tmp_path: Path) -> None:
    """No run, no figure, no measurement: all of it is said in words."""
    text = text_of(tmp_path)
    assert "0 of the 16 models of this study have an accuracy" in text
    assert "Not available: It has not been drawn." in text
    assert "FLOPs and times have not been measured yet." in text
    assert "](<" not in text
    assert re.search(r"\*\*Figure 6\.\*\* Not available", text)


def test_a_study_of_one_model_makes_a_report(tmp_path: Path) -> None:
    """What a study does not have is left out, and said once to be missing."""
    write_run(tmp_path, "learned2d-9h-nocontent")
    text = text_of(
        tmp_path, groups=[], variants=["learned2d-9h-nocontent"], overrides={}
    )
    assert "This study has no hierarchical models." in text
    assert text.count("this study has only *Learned 2D w/o content; 9 heads*") == 1
    assert "has no model" not in text
    assert "Does content help?" not in text
    make_html(text, SOURCES, tmp_path / "report")


def test_imported_and_stale_runs_are_marked(tmp_path: Path) -> None:
    """A row whose numbers are not this study's training says so."""
    write_run(tmp_path, "resnet18", 7, "imported", accuracy=94.0)
    write_run(tmp_path, "vit", fingerprint="of other settings")
    rows = [line for line in text_of(tmp_path).splitlines() if line.startswith("| ")]
    assert any("ResNet18" in row and row.endswith("| imported |") for row in rows)
    assert any("| [ViT" in row and "(stale)" in row for row in rows)


def test_a_listed_figure_that_is_gone_fails_by_name(tmp_path: Path) -> None:
    """Case D09: a broken path stops the build and is named, never an empty box."""
    fill(tmp_path)
    (tmp_path / "figures" / "curves" / "vit_curves.svg").unlink()
    with pytest.raises(ReattnError, match=r"vit_curves\.svg"):
        build(tmp_path)


def test_a_figure_that_is_no_picture_fails_by_name(tmp_path: Path) -> None:
    """So does a file that holds something else."""
    fill(tmp_path)
    (tmp_path / "figures" / "curves" / "vit_curves.svg").write_text("no picture")
    with pytest.raises(ReattnError, match=r"vit_curves\.svg"):
        build(tmp_path)


def test_missing_tables_name_the_command(tmp_path: Path) -> None:
    """Without tables, the message says how to make them."""
    with pytest.raises(ReattnError, match="python -m reattn tables"):
        build(tmp_path)


def test_same_input_same_bytes_from_any_folder(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case D09: no date, no path, no working directory gets into the report."""
    again = tmp_path / NAME
    for part in ("tables", "figures", "measure", "runs"):
        shutil.copytree(built / part, again / part)
    monkeypatch.setenv("REATTN_ROOT", str(ROOT))
    monkeypatch.chdir(tmp_path)
    build(again)
    for name in ("report.md", "report.html", "report.pdf", "manifest.json"):
        first, second = (built / "report" / name), (again / "report" / name)
        assert first.read_bytes() == second.read_bytes(), name
    assert str(built).encode() not in (built / "report" / "report.pdf").read_bytes()


def test_manifest_names_every_file_truly(built: Path) -> None:
    """Sorted, complete, with the right digest; weights and arrays are not in it."""
    manifest = json.loads((built / "report" / "manifest.json").read_text())
    paths = [entry["path"] for entry in manifest["files"]]
    assert paths == sorted(paths)
    for entry in manifest["files"]:
        content = (built / entry["path"]).read_bytes()
        assert entry["size"] == len(content)
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
    assert {"report/report.pdf", "tables/models.csv", "report/report.html"} <= set(
        paths
    )
    assert "runs/resnet18/seed0/history.csv" in paths
    assert "figures/diagrams/ordinary-attention.svg" in paths
    assert not [
        path for path in paths if path.endswith((".pt", ".npz", "manifest.json"))
    ]


NAMES = r"CIFAR-10|ResNet18|Learned 2D|\bD\d+\b|\[-?@[^\]]+\]"
JINJA = r"<% call .*?<% endcall %>|<<.*?>>|<%.*?%>|<#.*?#>"


@pytest.mark.parametrize(
    "path", sorted(SOURCES.glob("sections/*.md.j2")), ids=lambda path: path.name
)
def test_no_template_holds_a_number(path: Path) -> None:
    """Numbers come from files; mathematics, names and marks of place may stay."""
    text = re.sub(JINJA, "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"\$[^$]+\$", "", text)
    text = re.sub(r"^#+ .*$", "", text, flags=re.MULTILINE)
    assert re.findall(r"\d[\d.,]*", re.sub(NAMES, "", text)) == []


def test_every_source_is_cited_and_every_citation_known() -> None:
    """The bibliography holds what the text cites, no more and no less."""
    known = set(
        re.findall(r"^@\w+\{(\w+),", (SOURCES / "references.bib").read_text(), re.M)
    )
    texts = [path.read_text() for path in SOURCES.glob("sections/*.md.j2")]
    texts += [path.read_text() for path in ROOT.glob("src/reattn/report/*.py")]
    cited = set(re.findall(r"@([a-z]+\d{4})", " ".join(texts)))
    assert cited == known


def test_the_ledger_is_complete() -> None:
    """D1 to D23, each with what it is, does, should do, and what is done here."""
    ledger = yaml.safe_load((ROOT / "config" / "deviations.yaml").read_text())
    assert [entry["id"] for entry in ledger] == [f"D{n}" for n in range(1, 24)]
    priced = {"twins", "columns", "unpriced"}
    keys = set(ledger[0]) - priced
    for entry in ledger:
        assert set(entry) - priced - {"families", "moves"} == keys
        assert "families" not in entry or "unpriced" in entry
        assert len(set(entry) & priced) == 1
        assert entry["severity"] in ("high", "medium", "low")
        assert entry["followed"] in ("yes", "no", "partly", "beside", "unused")


def test_no_line_begins_with_the_sign_behind_a_long_formula(tmp_path: Path) -> None:
    """A formula that may scroll takes its comma along; what follows stays text."""
    long = " > ".join(f"s(A_{n}, B)" for n in range(9))
    page = make_html(f"So ${long}$, which ends.\n", SOURCES, tmp_path)
    found = re.search(r'<span class="long"><math.*?</math>(.*?)</span>(.*)', page)
    assert found[1] == ","
    assert found[2].startswith(" which ends.")


@pytest.mark.parametrize(
    "text",
    ["a|b", "*x*", "_y_ `z`", "@someone2020", "$1 and $2", "<b>", "1. no list", "# no"],
)
def test_plain_text_stays_plain(text: str, tmp_path: Path) -> None:
    """A label or reason is shown letter by letter, whatever signs it holds."""
    from html import unescape

    page = make_html(f"{escape(text)}\n\n{code(text)}\n", SOURCES, tmp_path)
    body = page[page.index('<main id="content">') : page.index("</main>")]
    shown = [unescape(re.sub(r"<[^>]+>", "", part)) for part in body.split("<p>")[1:]]
    assert [" ".join(part.split()) for part in shown] == [text, text]


def test_a_model_that_evaluation_mode_ruins_is_named(tmp_path: Path) -> None:
    """Shared batch normalisation: the two accuracies stand side by side, explained."""
    from reattn.report.models import Model

    cells = {
        "variant": "ha-san-patchwise",
        "label": "HA-SAN",
        "status": "ok",
        "reason": "nothing is missing",
        "accuracy_mean": "26.1",
        "accuracy_ci_low": "25.2",
        "accuracy_ci_high": "27.0",
        "accuracy_authors_mean": "49.7",
        "accuracy_best_eval_mean": "34.4",
    }
    assert Model(cells).modes_differ
    assert Model(cells).both_modes == "49.70 and 34.40 %"
    assert not Model(cells | {"accuracy_authors_mean": "35.0"}).modes_differ
    assert not Model(cells | {"accuracy_authors_mean": "n/a"}).modes_differ


def test_limits_follow_the_study(tmp_path: Path) -> None:
    """What the numbers cannot show is told from scale, seeds, images and deviations."""
    fill(tmp_path)
    study, variants = made_up_study(**CHANGES)
    context = read_context(NAME, study, variants, tmp_path, ROOT)
    told = " ".join(limits(context))
    assert sentence(study.reduced) in told
    assert NOTE in told
    assert "*ViT*" in told  # diverged, so that it has no accuracy
    assert "A made-up processor" in told
    whole = replace(context, study=study.model_copy(update={"reduced": None}))
    assert "of the report’s own size" in " ".join(limits(whole))


def test_names_in_a_row_are_told_by_their_ends() -> None:
    """A reader sees D5 to D8, not four names; two stay two."""
    assert spans([8, 5, 6, 7, 1, 11, 12], "D") == ["D1", "D5 to D8", "D11", "D12"]
    assert spans([], "D") == []


@pytest.mark.parametrize(
    ("low", "told"), [(2.0, "2 are above zero"), (-1.0, "2 are not told")]
)
def test_a_gain_is_judged_by_its_own_interval(
    tmp_path: Path, low: float, told: str
) -> None:
    """Of a difference, only its own interval tells whether it may be zero."""
    pairs = [
        Pair(
            {
                **{"variant": name, "ordinary": "vit", "label": name, "reason": ""},
                **{"accuracy_difference": "3.0", "accuracy_difference_low": str(low)},
                **{"accuracy_difference_high": "4", "accuracy_difference_kind": "t"},
            }
        )
        for name in ("ha-vit", "ha-san-pairwise")
    ]
    fill(tmp_path)
    study, variants = made_up_study(**CHANGES)
    context = read_context(NAME, study, variants, tmp_path, ROOT)
    context.__dict__["pairs"] = pairs
    assert told in gains(context)
    assert "+3.00" in gains(context)


def test_a_pair_whose_ordinary_model_is_elsewhere_makes_a_report(
    tmp_path: Path,
) -> None:
    """As in studies of twins: the hierarchical model is here, the ordinary one not."""
    write_run(tmp_path, "ha-san-pairwise")
    text = text_of(tmp_path, groups=[], variants=["ha-san-pairwise"], overrides={})
    assert "san-pairwise" in text


EXPLORER = re.compile(r"^# \d+ Attention explorer.*?(?=^# )", re.M | re.S)


def explorer_section(results: Path, **changes: object) -> str:
    return EXPLORER.search(text_of(results, **changes))[0]


def test_on_paper_figures_stand_in_the_place_of_the_explorer(tmp_path: Path) -> None:
    """One query, in an ordinary model and its hierarchical version; each file once."""
    results = tmp_path / NAME
    fill(results)
    write_json(results / "explorer" / "index.json", INDEX)
    section = explorer_section(results)
    assert "On paper and without JavaScript, [Figure" in section
    text = text_of(results)
    for variant in ("learned2d-9h-content", "ha-learned2d-9h-content"):
        assert text.count(f"/{variant}_query.svg>") == 1
    assert "/learned2d-9h-content_query.svg>" in section


def test_an_explorer_with_nothing_to_show_says_why(tmp_path: Path) -> None:
    """Arrays that are not here, or models that it is not made for."""
    results = tmp_path / NAME
    fill(results)
    assert "Nothing to explore" in explorer_section(results)
    alone = {"groups": ["projections"], "variants": [], "overrides": {}}
    told = explorer_section(tmp_path / "alone" / NAME, **alone)
    assert "This study has none of them" in told
    assert "pack-explorer" not in told
