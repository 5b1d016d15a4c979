"""The page in a real browser: nothing asked of a server, all of it usable by hand."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import WIDTHS, Opened, opened, why_no_browser
from conftest import ROOT, require
from made_up_study import (
    NAME,
    figure,
    made_up_study,
    make_all_tables,
    write_all_figures,
    write_figures,
    write_measurements,
    write_run,
)

from reattn.report import build_report

SEEDS = [0, 1, 2]
COLUMNS = "#table-runs, #table-nine-heads, #table-pairs, #figure-models, #glance"
# The sum of what moved after it was shown, as browsers score it.
SHIFT = """() => new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) sum += entry.value;
  }).observe({type: "layout-shift", buffered: true});
  setTimeout(() => done(sum), 300);
})"""
LOST = {"accuracy": None, "accuracy_authors": None, "accuracy_best_eval": None}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of three seeds: most well, one diverged, one variant missing."""
    reason = why_no_browser()
    require(reason is None, f"no browser can be started: {reason}")
    results = tmp_path_factory.mktemp("a page") / NAME
    study, variants = made_up_study(seeds=SEEDS, groups=["report", "audit"])
    for place, name in enumerate(variants):
        for seed in SEEDS:
            if name != "ha-san-patchwise":
                write_run(results, name, seed, accuracy=60.0 + 1.5 * place + seed)
    write_run(results, "vit", 2, "diverged", "loss is not finite", **LOST)
    write_run(results, "resnet18", 1, wandb_run="https://wandb.ai/a/b/runs/c")
    write_measurements(results, variants)
    write_all_figures(results, variants)
    wide = [figure(kind, f"{kind}.svg") for kind in ("models", "comparison")]
    write_figures(results / "figures" / "comparison", wide, width=900, height=700)
    make_all_tables(study, variants, results)
    build_report(NAME, study, variants, results, ROOT)
    return results / "report" / "report.html"


@pytest.fixture
def page(browser, report: Path) -> Iterator[Opened]:
    """The page in a wide window."""
    with opened(browser, report) as found:
        yield found


def column(found: Opened, table: str, number: int) -> list[str]:
    """A column's texts, top to bottom, of the rows that are shown."""
    cells = f"#{table} tbody tr:not([hidden]) td:nth-child({number})"
    return [text.strip() for text in found.page.locator(cells).all_inner_texts()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_asked_cut_or_moved(browser, report, width, scheme):
    """On a phone, a tablet and a desk: no request, no fault, no sideways scrolling."""
    with opened(browser, report, width, color_scheme=scheme) as found:
        assert found.overflow == 0
        cut = found.page.evaluate(
            """names => [...document.querySelectorAll(names)].filter(box => {
              const place = box.getBoundingClientRect();
              return place.left < -1 || place.right > innerWidth + 1;
            }).map(box => box.id)""",
            COLUMNS,
        )
        assert cut == []
        paper = found.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (max(map(int, paper[4:-1].split(","))) < 60) == (scheme == "dark")
        assert found.page.evaluate(
            "[...document.images].every(i => i.hasAttribute('width'))"
        )
        assert found.page.evaluate(SHIFT) < 0.02
        assert found.requests == []
        assert found.faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_for_those_who_need_aids(browser, report, scheme):
    """axe finds nothing serious or critical, the open panels included."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        require(False, "axe-playwright-python is not installed")
    with opened(browser, report, color_scheme=scheme, reduced_motion="reduce") as found:
        faults = serious(Axe(), found)
        found.page.locator("#table-nine-heads .cell").first.click()
        faults += serious(Axe(), found)
        found.page.keyboard.press("Escape")
        found.page.locator("#figure-models .enlarge").click()
        faults += serious(Axe(), found)
    assert faults == []


def serious(axe, found: Opened) -> list:
    rules = axe.run(found.page).response["violations"]
    return [
        (rule["id"], [node["html"][:150] for node in rule["nodes"][:3]])
        for rule in rules
        if rule["impact"] in ("serious", "critical")
    ]


def test_the_text_is_whole_without_scripts(browser, report):
    """Every table and figure can be read, and no dead button stands beside it."""
    with opened(browser, report, java_script_enabled=False) as found:
        content = found.page.content()
        assert "20 models" in content or "have an accuracy" in content
        assert found.page.locator("button:visible").count() == 0
        for name in ("#table-nine-heads td", "#table-claims td", "#figure-models"):
            assert found.page.locator(name).first.is_visible()
        assert found.page.locator("#contents a").first.is_visible()
    with opened(browser, report, 360, java_script_enabled=False) as found:
        places = [box.bounding_box() for box in found.page.locator("main > *").all()]
        assert max(place["x"] + place["width"] for place in places if place) <= 360


def test_a_table_sorts_and_what_is_not_known_comes_last(page):
    """By numbers in both directions, by mouse and by keyboard."""
    heading = page.page.locator("#table-nine-heads th").nth(1)
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    values = [float(text.split()[0]) for text in column(page, "table-nine-heads", 2)]
    assert values == sorted(values)
    assert len(set(values)) > 2
    heading.get_by_role("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    values = [float(text.split()[0]) for text in column(page, "table-nine-heads", 2)]
    assert values == sorted(values, reverse=True)
    published = page.page.locator("#table-nine-heads th").nth(3).get_by_role("button")
    for _ in range(2):
        published.click()
        assert column(page, "table-nine-heads", 4)[-1] == "n/a"


def test_a_pair_stays_together(page):
    """The table of pairs sorts by the first row of each three."""
    before = column(page, "table-pairs", 1)
    page.page.locator("#table-pairs th").nth(4).get_by_role("button").click()
    after = column(page, "table-pairs", 1)
    threes = [tuple(after[n : n + 3]) for n in range(0, len(after), 3)]
    assert after != before
    assert set(threes) == {tuple(before[n : n + 3]) for n in range(0, len(before), 3)}


def test_a_table_shows_one_group_or_what_is_looked_for(page):
    """Rows are left out and counted."""
    box = page.page.locator("#table-runs")
    whole = len(column(page, "table-runs", 1))
    box.get_by_label("Group").select_option("audit")
    assert 0 < len(column(page, "table-runs", 1)) < whole
    box.get_by_label("Group").select_option("")
    box.get_by_label("Find").fill("vit")
    labels = column(page, "table-runs", 1)
    assert labels
    assert all("vit" in label.lower() for label in labels)
    assert page.page.locator("#told").inner_text().startswith(f"{len(labels)} of")


def test_a_table_is_copied_as_csv(browser, report):
    """What is on the clipboard is the table, and a voice says so."""
    with opened(browser, report) as found:
        found.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        found.page.locator("#table-nine-heads .copy").click()
        told = found.page.locator("#told")
        told.get_by_text("copied as CSV").wait_for(state="attached")
        copied = found.page.evaluate("navigator.clipboard.readText()")
    rows = list(csv.reader(io.StringIO(copied)))
    assert rows[0][:2] == ["Model", "Accuracy, %"]
    assert len(rows) == 1 + 5
    assert len({len(row) for row in rows}) == 1


def test_a_number_tells_where_it_came_from(page):
    """By keyboard: file, column, runs, commit, device, link; Escape goes back."""
    cell = page.page.locator("#table-nine-heads tbody tr", has_text="ResNet18")
    first = cell.locator(".cell").first
    first.focus()
    page.page.keyboard.press("Enter")
    told = page.page.get_by_role("dialog").inner_text()
    for words in (
        *(f"results/{NAME}/tables/models.csv", "accuracy_mean", "resnet18"),
        *("3, seeds 0, 1, 2", "0123456789abcdef0123", "A made-up processor"),
        *("https://wandb.ai/a/b/runs/c", "Reduced study"),
    ):
        assert words in told
    page.page.keyboard.press("Escape")
    assert not page.page.get_by_role("dialog").is_visible()
    assert first.evaluate("cell => cell === document.activeElement")
    page.page.keyboard.press("ArrowRight")
    second = cell.locator(".cell").nth(1)
    assert second.evaluate("cell => cell === document.activeElement")


def test_a_difference_names_the_table_of_differences(page):
    """By mouse: both models of the pair, and the column of hierarchical.csv."""
    page.page.locator("#table-pairs tbody tr").nth(2).locator(".cell").first.click()
    told = page.page.get_by_role("dialog").inner_text()
    assert "tables/hierarchical.csv" in told
    assert "accuracy_difference" in told


def test_a_verdict_tells_what_it_rests_on(page):
    """The claim's row, the cells of tables behind it, and the runs of each model."""
    row = page.page.locator("#table-claims tbody tr").first
    row.locator(".cell").last.click()
    told = page.page.get_by_role("dialog").inner_text()
    for words in ("tables/claims.csv", "verdict", "gain-in-points", "tables/runs.csv"):
        assert words in told
    assert "Hierarchical Learned 2D w/ content; 9 heads" in told


def test_numbers_of_no_run_name_none(page):
    """The constructed task: file, columns and form, and nothing of the study's runs."""
    row = page.page.locator("#table-constructed tbody tr").first
    row.locator(".cell").nth(1).click()
    told = page.page.get_by_role("dialog").inner_text()
    for words in ("tables/constructed.csv", "accuracy_mean, accuracy_min", "dot"):
        assert words in told
    assert "A made-up processor" not in told
    assert "Reduced" not in told


def test_a_time_tells_how_it_was_measured(page):
    """Times come from the measurement, not from the runs."""
    page.page.locator("#table-pairs tbody tr").first.locator(".cell").nth(4).click()
    told = page.page.get_by_role("dialog").inner_text()
    assert "measure/measurements.csv" in told
    assert "A made-up processor" in told
    assert "seed" not in told.lower()


def test_every_marked_column_is_one_of_its_file(report):
    """A cell never names a column that the file does not have."""
    import re

    text = report.with_suffix(".md").read_text(encoding="utf-8")
    boxes = re.findall(r'file="(tables/[^"]+)" columns="([^"]+)"', text)
    assert len(boxes) >= 8
    for file, columns in boxes:
        with (report.parents[1] / file).open(newline="") as lines:
            head = next(csv.reader(lines))
        assert {c for name in columns.split() for c in name.split(",")} - {"-"} <= {
            *head
        }


def test_what_went_wrong_stands_beside_the_number(page):
    """In words: one of three runs diverged, another variant has no run."""
    rows = page.page.locator("#table-pairs tbody tr")
    assert "diverged 1 of 3" in rows.filter(has_text="ViT").first.inner_text()
    missing = rows.filter(has_text="Hierarchical SAN (patchwise)").first
    assert "n/a (missing)" in missing.inner_text()


def test_a_phone_shows_rows_of_sentences_as_cards(browser, report):
    """Nothing of a claim is out of sight; headings stand in each and still sort."""
    with opened(browser, report, 360) as found:
        claims = found.page.locator("#table-claims")
        assert claims.evaluate("b => b.querySelector('td').offsetWidth") > 250
        assert claims.locator(".scroller").evaluate(
            "s => s.scrollWidth <= s.clientWidth"
        )
        headings = claims.locator("th").all_inner_texts()
        first = claims.locator("tbody tr").first
        told = first.locator("td").evaluate_all(
            "cells => cells.map(c => getComputedStyle(c, '::before').content)"
        )
        assert told[1:] == [f'"{name}: "' for name in headings[1:]]
        before = first.inner_text()
        for _ in range(2):
            claims.locator("th button").first.click()
        assert first.inner_text() != before
        assert first.get_attribute("role") == "row"


def test_a_phone_keeps_the_names_of_rows_in_sight(browser, report):
    """Numbers pass beside the name of their row."""
    with opened(browser, report, 360) as found:
        scroller = found.page.locator("#table-nine-heads .scroller")
        scroller.evaluate("s => { s.scrollLeft = s.scrollWidth; }")
        name, last = (
            scroller.locator(f"tbody tr:first-child td:{which}-child").bounding_box()
            for which in ("first", "last")
        )
        assert name["x"] >= 0
        assert last["x"] >= name["x"] + name["width"]
        assert last["x"] + last["width"] <= 360


def test_a_finger_finds_the_button_that_enlarges_beside_the_figure(browser, report):
    """Where nothing hovers, the button is seen and covers nothing of the figure."""
    with opened(browser, report, 360, has_touch=True, is_mobile=True) as found:
        button = found.page.locator("#figure-models .enlarge")
        assert button.evaluate("b => getComputedStyle(b).opacity") == "1"
        image = found.page.locator("#figure-models img").bounding_box()
        assert button.bounding_box()["y"] >= image["y"] + image["height"]
        button.tap()
        assert found.page.locator("dialog.lens").is_visible()


def test_a_figure_can_be_enlarged_and_moved(page):
    """By mouse and wheel, by keys; it is whole at first, and Escape goes back."""
    page.page.locator("#figure-models img").click()
    lens = page.page.locator("dialog.lens")
    width = "() => document.querySelector('.lens-view img').clientWidth"
    whole = page.page.evaluate(width)
    view = page.page.locator(".lens-view")
    assert view.evaluate("v => v.scrollWidth <= v.clientWidth")
    assert view.evaluate("v => v.scrollHeight <= v.clientHeight")
    view.hover()
    page.page.mouse.wheel(0, -400)
    page.page.wait_for_function(f"({width})() > 1.5 * {whole}")
    page.page.keyboard.press("+")
    page.page.keyboard.press("+")
    left = view.evaluate("v => v.scrollLeft")
    page.page.keyboard.press("ArrowRight")
    assert view.evaluate("v => v.scrollLeft") > left
    page.page.keyboard.press("0")
    assert page.page.evaluate(width) == pytest.approx(whole, abs=2)
    page.page.keyboard.press("Escape")
    assert not lens.is_visible()
    button = page.page.locator("#figure-models .enlarge")
    assert button.evaluate("b => b === document.activeElement")


def test_the_contents_follow_the_reader_and_the_colours_stay(browser, report):
    """The section in view is marked; a chosen scheme outlives a reload."""
    with opened(browser, report, color_scheme="light") as found:
        found.page.evaluate(
            "document.getElementById('claims').scrollIntoView({behavior: 'instant'})"
        )
        mark = found.page.locator("#contents a[aria-current]")
        found.page.wait_for_function(
            "document.querySelector('#contents a[aria-current]').hash === '#claims'"
        )
        assert mark.count() == 1
        found.page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
        found.page.get_by_role("button", name="Dark colours").click()
        found.page.reload()
        dark = found.page.evaluate("document.documentElement.dataset.colours")
    assert dark == "dark"


def test_headings_tables_figures_and_equations_can_be_linked(page):
    """Each has a link of its own that leads to it."""
    for name in ("claims", "table-claims", "figure-models", "eq-scores"):
        if page.page.locator(f"#{name}").count():
            link = page.page.locator(f'.anchor[href="#{name}"]')
            assert link.count() == 1, name
    assert page.page.locator(".equation > .anchor").count() > 5


def test_nothing_in_the_provenance_ends_the_script(report):
    """What users write into a study's title or reason stays text."""
    page = report.read_text(encoding="utf-8")
    block = page.split('id="provenance">')[1].split("</script>")[0]
    assert json.loads(block)["models"]["vit"]["status"].startswith("partial")
    assert "<" not in block
