"""Depth: what more layers cost in parameters and in memory of training."""

import csv
from pathlib import Path

import pytest
from conftest import write_study

from reattn.config import load_resolved, load_variants
from reattn.config.variants import Variant
from reattn.costs.memory import estimate_training_memory
from reattn.errors import ConfigError
from reattn.measure.conditions import Conditions, Repetitions
from reattn.measure.table import measure_study
from reattn.measure.training_memory import depths, measure_step
from reattn.tables.cells import Row
from reattn.tables.depth import COLUMNS, depth_rows
from reattn.tables.models import model_rows

VARIANTS = load_variants()
ORDINARY, HIERARCHICAL = "learned2d-9h-content", "ha-learned2d-9h-content"
FAMILY = {
    f"{base}{suffix}": layers
    for base in (ORDINARY, HIERARCHICAL)
    for suffix, layers in (("-3-layers", 3), ("", 6), ("-12-layers", 12))
}
SMALL = {"learned2d": {"width": 8, "feed_forward": 8}}
QUICK = Repetitions(1, 0, 1, 1, 0)


def sized(name: str, **changes: object) -> Variant:
    """A variant with other settings of its model."""
    content = VARIANTS[name].model_dump()
    content["model"] |= changes
    return Variant.model_validate(content)


# The variants


@pytest.mark.parametrize("name", [name for name in FAMILY if "layers" in name])
def test_a_depth_is_the_reports_model_but_for_its_layers(name: str):
    """Protects the comparison from a second difference."""
    base = HIERARCHICAL if name.startswith("ha-") else ORDINARY
    deep, report = VARIANTS[name], VARIANTS[base]
    assert deep.group == "depth"
    assert deep.model == report.model.model_copy(update={"layers": FAMILY[name]})
    assert deep.recipe == report.recipe
    ordinary = name.removeprefix("ha-") if base == HIERARCHICAL else None
    assert deep.ordinary == ordinary
    assert deep.label == f"{report.label}; {FAMILY[name]} layers"


def depth_study(project: Path, **overrides: object) -> str:
    """A study of all depths."""
    chosen = {"variants": [ORDINARY, HIERARCHICAL], "groups": ["depth"]}
    return write_study(project, **chosen, overrides={"families": SMALL, **overrides})


def test_a_depth_study_keeps_the_depths(project: Path):
    """Of the group and of the report's models that it names."""
    _, variants = load_resolved(depth_study(project))
    assert {name: v.model.layers for name, v in variants.items()} == FAMILY


@pytest.mark.parametrize(
    "overrides",
    [
        {"all": {"layers": 4}},
        {"families": {"learned2d": {"layers": 4, "width": 8}}},
    ],
)
def test_overrides_that_flatten_depths_are_a_fault(project: Path, overrides: dict):
    """Each told with the line that mends it."""
    with pytest.raises(ConfigError) as fault:
        load_resolved(depth_study(project, **overrides))
    assert len(fault.value.problems) == 4
    for name in (f"{ORDINARY}-3-layers", f"{HIERARCHICAL}-12-layers"):
        fix = f"overrides.variants, for example `{name}: {{layers: {FAMILY[name]}}}`"
        assert fix in str(fault.value)


def test_the_lines_that_the_fault_tells_mend_it(project: Path):
    """To the letter."""
    deep = {name: {"layers": n} for name, n in FAMILY.items() if "layers" in name}
    name = depth_study(project, all={"layers": 4}, variants=deep)
    _, variants = load_resolved(name)
    found = {name: v.model.layers for name, v in variants.items()}
    assert found == FAMILY | {ORDINARY: 4, HIERARCHICAL: 4}


def test_two_variants_may_not_become_one(project: Path):
    """The report's six layers, overridden to three, are the three that exist."""
    deep = {name: {"layers": n} for name, n in FAMILY.items() if "layers" in name}
    with pytest.raises(ConfigError) as fault:
        load_resolved(depth_study(project, all={"layers": 3}, variants=deep))
    told = str(fault.value)
    assert len(fault.value.problems) == 2
    assert f"overrides make it and {ORDINARY} the same model" in told
    assert f"`{ORDINARY}: {{layers: 6}}`" in told


def test_other_studies_may_change_all_layers(project: Path):
    """Only what is trained counts."""
    name = write_study(project, overrides={"all": {"layers": 1}, "families": SMALL})
    assert load_resolved(name)


# The memory of a step

BATCH, SIZE = 16, 16
WIDE = {"width": 64, "feed_forward": 48, "layers": 4}


def is_what_tensors_need(megabytes: float, variant: Variant) -> bool:
    """By the formula, whose activations are tested tensor by tensor elsewhere."""
    expected = estimate_training_memory(variant.model, SIZE, 10, BATCH) / 2**20
    return megabytes == pytest.approx(expected, rel=0.12)


def test_the_memory_of_a_step_is_what_its_tensors_need():
    """Weights that are shared by all layers, activations that are not."""
    variant = sized(HIERARCHICAL, **WIDE)
    conditions = Conditions(SIZE, 10, "cpu", 1, "fp32", QUICK)
    found = measure_step(variant, BATCH, conditions)
    assert found.batch == BATCH
    assert is_what_tensors_need(found.megabytes, variant)


def test_depths_are_found_by_their_settings():
    """Whatever their group: of twins alike, of others none."""
    small = {name: VARIANTS[name] for name in VARIANTS if "projections" not in name}
    assert set(depths(small)) == set(FAMILY)
    report = {n: v for n, v in VARIANTS.items() if v.group in ("report", "audit")}
    assert depths(report) == []
    pair = {"a": sized("ha-san-pairwise"), "b": sized("ha-san-pairwise", layers=2)}
    assert depths(pair) == ["a", "b"]


# The tables


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measurements of a depth, of one without a step, and of one whose step fails."""
    folder = tmp_path_factory.mktemp("results") / "measure"
    deep = f"{ORDINARY}-3-layers"
    variants = {
        deep: sized(deep, **WIDE),
        ORDINARY: sized(ORDINARY, width=8, feed_forward=8),
        "failing": sized("resnet18", width=4),
    }
    measure_study(
        variants,
        image_size=SIZE,
        num_classes=10,
        destination=folder,
        repetitions=QUICK,
        micro_batches={deep: BATCH, "failing": 2**40},
        progress=lambda line: None,
    )
    return folder


def test_measurements_have_the_memory_or_blanks(measured: Path):
    """A step that fails costs no other column."""
    with (measured / "measurements.csv").open() as file:
        rows = {row["variant"]: row for row in csv.DictReader(file)}
    deep = rows[f"{ORDINARY}-3-layers"]
    variant = sized(ORDINARY, **WIDE)
    assert is_what_tensors_need(float(deep["training_memory_mb"]), variant)
    assert (deep["memory_batch"], deep["reason"]) == (str(BATCH), "")
    assert rows[ORDINARY]["training_memory_mb"] == rows[ORDINARY]["reason"] == ""
    assert rows["failing"]["training_memory_mb"] == ""
    assert rows["failing"]["reason"] == "a step of training failed: out of memory"
    assert float(rows["failing"]["throughput_img_s"]) > 0


def table(measured: Path, project: Path) -> tuple[dict[str, Variant], list[Row]]:
    """The rows of models.csv of a study without runs."""
    study, variants = load_resolved(depth_study(project))
    return variants, model_rows(study, variants, [], measured.parent, {})


def test_models_have_the_memory_or_the_reason(measured: Path, project: Path):
    """Never an empty cell."""
    rows = {row["variant"]: row for row in table(measured, project)[1]}
    assert rows[f"{ORDINARY}-3-layers"].number("training_memory_mb") > 0
    left_out = rows[ORDINARY].reason("training_memory_mb")
    assert left_out == "measured where models differ in their number of layers alone"
    assert rows[HIERARCHICAL].reason("training_memory_mb") == (
        "not among the measured variants"
    )


def test_the_table_of_depths(measured: Path, project: Path):
    """Ordinary ones first, from few layers to many; no run, no accuracy."""
    rows = depth_rows(*table(measured, project))
    assert [(row["variant"], row["layers"]) for row in rows] == list(FAMILY.items())
    assert [row["hierarchical"] for row in rows] == [False] * 3 + [True] * 3
    first = rows[0]
    assert (first["memory_batch"], first["status"]) == (BATCH, "missing")
    assert first["accuracy_mean"] == "n/a"
    assert first.reason("accuracy_mean") == "the run recorded no accuracy"
    assert set(COLUMNS) <= set(first.as_dict())


def test_a_depth_of_a_model_without_layers_stops_no_table(
    measured: Path, project: Path
):
    """Group `depth` is free for others' variants too."""
    _, models = table(measured, project)
    content = VARIANTS["resnet18"].model_dump() | {"group": "depth"}
    other = {ORDINARY: Variant.model_validate(content)}
    (row,) = depth_rows(other, models)
    assert (row["layers"], row["hierarchical"]) == ("n/a", False)
    assert "fixed depth" in row.reason("layers")
