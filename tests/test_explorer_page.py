"""The explorer in a real browser, from disk, with no network: what it shows is true."""

import json
from collections.abc import Iterator

import numpy as np
import pytest
from conftest import require
from explorer_study import IMAGES, NAME, SIZE, pack, page_of, recorded, weights_of

from reattn.explorer.scales import largest_fault

CONTENT, HIERARCHICAL = "learned2d-9h-content", "ha-learned2d-9h-content"
FAULT = largest_fault(255)
READY = ".explorer[data-settled]"
SHOWN = """([side, heads]) => {
  const { weights } = document.getElementById("attention-explorer");
  return heads.map((count, layer) =>
    [...Array(count).keys()].map((head) => weights(side, layer, head)));
}"""


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> str:
    """The address of a page with the small study's attention."""
    results = tmp_path_factory.mktemp("results") / NAME
    pack(results)
    path = results / "report.html"
    path.write_text(page_of(results))
    return path.as_uri()


@pytest.fixture
def explorer(browser, file: str) -> Iterator:
    """The page, open; at the end nothing was asked for and nothing complained."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    page, faults = context.new_page(), []
    context.set_offline(True)
    page.on("request", lambda request: faults.append(request.url))
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.goto(file)
    page.wait_for_selector(READY)
    yield page
    assert [fault for fault in faults if fault != file] == []
    context.close()


def settle(page) -> None:
    """Wait until a change is drawn and told."""
    page.evaluate("document.querySelector('.explorer').removeAttribute('data-settled')")
    page.wait_for_selector(READY)


def shown(page, side: str = "first") -> dict[str, float]:
    """The numbers of a side's current head, as the page holds them."""
    data = page.eval_on_selector(
        f"[data-side={side}] .explorer-readout", "node => ({...node.dataset})"
    )
    return {k: float(v) if v != "null" else None for k, v in data.items()}


def query_of(page) -> int:
    """The query's pixel, row by row."""
    data = page.eval_on_selector(".explorer", "node => ({...node.dataset})")
    return int(data["row"]) * SIZE + int(data["column"])


def assert_weights(page, side: str, variant: str, query: int | None, image: int = 0):
    """Every layer's and head's map is the recorded one, within the stated fault."""
    exact = weights_of(variant, image, query)
    found = page.evaluate(SHOWN, [side, [len(layer) for layer in exact]])
    calls = recorded(variant, image)
    for layer, maps, call in zip(exact, found, calls, strict=True):
        largest = np.abs(call).max((1, 2, 3, 4))[:, None]
        faults = np.abs(np.array(maps) - layer.reshape(len(layer), -1))
        assert (faults <= FAULT * largest + 1e-6).all()


def point(page, row: int, column: int) -> None:
    """Move the mouse to a pixel of the image."""
    box = page.locator(".explorer-picture").bounding_box()
    side = box["width"] / SIZE
    page.mouse.move(box["x"] + (column + 0.5) * side, box["y"] + (row + 0.5) * side)
    settle(page)


def expected_metrics(weights: np.ndarray, query: int) -> dict[str, float]:
    """Metrics of one head's map, by their definitions."""
    rows, columns = weights.shape
    row, column = (n * rows // SIZE for n in divmod(query, SIZE))
    share = weights / weights.sum()
    down, across = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    distance = SIZE / rows * np.hypot(down - row, across - column)
    return {
        "self": share[row, column],
        "entropy": -(share * np.log(share)).sum(),
        "distance": (share * distance).sum(),
        "maximum": weights.max(),
    }


def test_the_mouse_reads_what_was_recorded(explorer):
    """Move over the image: both models, every layer and head, and their numbers."""
    for row, column in ((0, 0), (9, 5), (15, 15)):
        point(explorer, row, column)
        assert query_of(explorer) == row * SIZE + column
        for side, variant in (("first", CONTENT), ("second", HIERARCHICAL)):
            assert_weights(explorer, side, variant, row * SIZE + column)
    exact = weights_of(CONTENT, 0, 15 * SIZE + 15)[0][0]
    numbers = shown(explorer)
    for name, value in expected_metrics(exact, 15 * SIZE + 15).items():
        assert numbers[name] == pytest.approx(value, rel=0.03, abs=0.005), name


def test_a_click_holds_the_query_and_the_pointer_reads_a_map(explorer):
    """The value under the pointer is that of the cell in the head's map."""
    point(explorer, 9, 5)
    explorer.mouse.down()
    explorer.mouse.up()
    maps = explorer.locator("[data-side=first] .explorer-maps")
    maps.scroll_into_view_if_needed()
    box = maps.bounding_box()
    explorer.mouse.move(box["x"] + 10, box["y"] + 42)
    settle(explorer)
    assert query_of(explorer) == 9 * SIZE + 5
    numbers = shown(explorer)
    assert (numbers["layer"], numbers["head"]) == (0, 0)
    weights = weights_of(CONTENT, 0, 9 * SIZE + 5)[0][0]
    assert numbers["value"] == pytest.approx(weights[0, 0], abs=FAULT)
    text = explorer.inner_text("[data-side=first] .explorer-readout")
    assert "row 1, column 1" in text
    explorer.locator(".explorer-picture").click(position={"x": 5, "y": 5})
    settle(explorer)
    assert query_of(explorer) == 0


def test_the_keyboard_does_all_of_it(explorer):
    """Tab to the controls, arrows on the image and on the maps."""
    first = explorer.locator("select[name=first]")
    first.focus()
    explorer.keyboard.type("ViT")
    settle(explorer)
    picture = explorer.locator(".explorer-picture")
    picture.focus()
    before = query_of(explorer)
    explorer.keyboard.press("ArrowRight")
    explorer.keyboard.press("ArrowUp")
    settle(explorer)
    patch = SIZE // 4
    assert query_of(explorer) == before + patch - patch * SIZE
    assert_weights(explorer, "first", "vit", query_of(explorer))
    explorer.locator("[data-side=first] .explorer-maps").focus()
    explorer.keyboard.press("ArrowDown")
    explorer.keyboard.press("ArrowRight")
    settle(explorer)
    numbers = shown(explorer)
    assert (numbers["layer"], numbers["head"]) == (1, 1)
    told = explorer.inner_text(".explorer-status")
    assert "Query at pixel row 5, column 13" in told
    assert "Layer 2, head 2" in told
    weights = weights_of("vit", 0, query_of(explorer))[1][1]
    assert numbers["token"] == pytest.approx(1 - weights.sum(), abs=0.003)


def test_the_average_over_queries(explorer):
    """By the keyboard: the same as the mean over all recorded queries."""
    explorer.locator("[name=explorer-mode][value=query]").focus()
    explorer.keyboard.press("ArrowRight")
    settle(explorer)
    for side, variant in (("first", CONTENT), ("second", HIERARCHICAL)):
        assert_weights(explorer, side, variant, None)
    assert "Average" in explorer.inner_text(".explorer-position")


@pytest.mark.parametrize(
    "variant", ["quadratic-9h-anisotropic", "san-pairwise", "san-patchwise"]
)
def test_every_form_on_every_image(explorer, variant: str):
    """Tables by shift for any image, and local weights with and without a softmax."""
    explorer.select_option("select[name=first]", variant)
    for image in range(len(IMAGES)):
        explorer.select_option("select[name=image]", str(image))
        settle(explorer)
        point(explorer, 3, 14)
        assert_weights(explorer, "first", variant, 3 * SIZE + 14, image)
    has_softmax = variant != "san-patchwise"
    text = explorer.inner_text("[data-side=first]")
    assert ("no softmax" in text) != has_softmax
    assert (shown(explorer)["entropy"] is not None) == has_softmax


def test_the_keyboard_reads_the_cells_of_the_large_map(explorer):
    """What the pointer does, arrows do: from the query's cell, a cell at a time."""
    point(explorer, 9, 5)
    explorer.locator("[data-side=first] .explorer-large").focus()
    explorer.keyboard.press("ArrowDown")
    explorer.keyboard.press("ArrowLeft")
    settle(explorer)
    weights = weights_of(CONTENT, 0, 9 * SIZE + 5)[0][0]
    assert shown(explorer)["value"] == pytest.approx(weights[3, 0], abs=FAULT)
    assert "row 4, column 1" in explorer.inner_text(".explorer-status")
    explorer.keyboard.press("Tab")
    settle(explorer)
    assert shown(explorer)["value"] is None


def test_pairs_layers_heads_and_scales(explorer):
    """The controls do what they say."""
    explorer.select_option("select[name=pair]", label="Learned 2D w/ content; 9 heads")
    options = explorer.locator("select[name=pair] optgroup").all()
    assert [o.get_attribute("label") for o in options] == [
        "Ordinary beside hierarchical",
        "Authors’ form beside aligned (D1)",
    ]
    explorer.select_option("select[name=pair]", "1")
    settle(explorer)
    title = explorer.inner_text("[data-side=second] .explorer-model")
    assert title.startswith("Learned 2D w/ content; 9 heads")
    assert_weights(explorer, "second", f"{CONTENT}-aligned", query_of(explorer))
    height = "document.querySelector('[data-side=first] .explorer-maps').clientHeight"
    tall = explorer.evaluate(height)
    explorer.select_option("select[name=layer]", label="2")
    explorer.select_option("select[name=head]", label="3")
    settle(explorer)
    assert explorer.evaluate(height) < tall
    assert (shown(explorer)["layer"], shown(explorer)["head"]) == (1, 2)
    explorer.check("[name=explorer-scale][value=shared]")
    settle(explorer)
    assert "largest of the maps shown" in explorer.inner_text("[data-side=first]")


def test_the_fault_and_what_is_absent_are_stated(explorer):
    """A reader knows how exact the numbers are, and that the study is reduced."""
    explorer.click(".explorer-about summary")
    text = explorer.inner_text(".explorer-about")
    assert "0.45 % of the largest weight" in text
    assert "Not here: ResNet18." in text
    assert "Reduced study" in explorer.inner_text(".explorer-reduced")
    assert "CC BY 2.0" in explorer.inner_text(".explorer-image")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_nothing_is_cut_and_nothing_jumps(browser, file: str, width: int, scheme: str):
    """On a phone, a tablet and a desk; in the place that is kept for it."""
    page = browser.new_page(
        viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    page.add_init_script(
        "window.shifts = []; new PerformanceObserver((list) => window.shifts.push("
        "...list.getEntries().map((entry) => entry.value)))"
        ".observe({type: 'layout-shift', buffered: true});"
    )
    page.goto(file)
    page.wait_for_selector(READY)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert sum(page.evaluate("window.shifts")) < 0.01
    ink = page.evaluate("getComputedStyle(document.querySelector('.explorer')).color")
    assert (ink == "rgb(230, 230, 227)") == (scheme == "dark")
    page.close()


def test_a_finger_moves_the_query(browser, file: str):
    """Touch works without a pointer that hovers."""
    context = browser.new_context(
        viewport={"width": 360, "height": 800}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(file)
    page.wait_for_selector(READY)
    picture = page.locator(".explorer-picture")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    page.touchscreen.tap(box["x"] + 2, box["y"] + box["height"] - 3)
    settle(page)
    query = (SIZE - 1) * SIZE
    assert query_of(page) == query
    large = page.locator("[data-side=first] .explorer-large")
    large.scroll_into_view_if_needed()
    box = large.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] - 5, box["y"] + 5)
    settle(page)
    weights = weights_of(CONTENT, 0, query)[0][0]
    assert shown(page)["value"] == pytest.approx(weights[0, -1], abs=FAULT)
    context.close()


def test_paper_and_no_script_have_the_sentence_in_its_place(browser, file: str):
    """A fixed figure stands there; the tool does not."""
    sentence = "text=On paper, figures stand here."
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file)
    assert page.is_visible(sentence)
    context.close()
    page = browser.new_page()
    page.goto(file)
    page.wait_for_selector(READY)
    assert not page.is_visible(sentence)
    page.emulate_media(media="print")
    assert page.is_visible(sentence)
    assert not page.is_visible(".explorer")
    page.close()


def test_an_accessibility_checker_finds_no_serious_fault(explorer):
    """Names, roles, contrast, order."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        require(False, "axe-playwright-python is not installed")
    found = Axe().run(explorer, "#attention-explorer").response["violations"]
    grave = [v for v in found if v["impact"] in ("serious", "critical")]
    assert grave == [], json.dumps(grave, indent=1)[:3000]
