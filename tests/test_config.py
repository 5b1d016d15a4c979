"""The configuration: what it accepts, what it refuses, and in which words."""

import re
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, TINY, write_study

from reattn.config import load_resolved, load_study, load_variants
from reattn.config.budget import budget_of
from reattn.config.loading import names_in
from reattn.config.runs import find_run, runs_of
from reattn.errors import ConfigError

REPORT = (
    *("resnet18", "learned2d-9h-content", "learned2d-9h-nocontent"),
    *("quadratic-9h-isotropic", "quadratic-9h-anisotropic"),
    *("learned2d-16h-content", "learned2d-16h-nocontent"),
    *("quadratic-16h-anisotropic", "san-pairwise", "san-patchwise", "vit"),
    *("ha-learned2d-9h-content", "ha-learned2d-16h-content"),
    *("ha-san-pairwise", "ha-san-patchwise", "ha-vit"),
)


def test_the_report_group_is_the_sixteen_models_of_the_report():
    """Ids and order are those that tables, figures and files go by."""
    report = [name for name, v in load_variants().items() if v.group == "report"]
    assert tuple(report) == REPORT


@pytest.mark.parametrize("name", names_in("studies"))
def test_every_study_of_the_project_is_sound(name: str):
    """A study that is shipped can be started."""
    study, variants = load_resolved(name)
    assert variants
    assert len(runs_of(name)) == len(variants) * len(study.seeds)


def test_a_hierarchical_variant_names_its_ordinary_version():
    """Table 3 pairs the report's five; a pair of any group has one recipe."""
    variants = load_variants()
    pairs = [(v, variants[v.ordinary]) for v in variants.values() if v.ordinary]
    assert sum(hierarchical.group == "report" for hierarchical, _ in pairs) == 5
    for hierarchical, ordinary in pairs:
        assert hierarchical.recipe == ordinary.recipe


def faults_of(call, *arguments) -> list[str]:
    """The sentences of the ConfigError that a call raises."""
    with pytest.raises(ConfigError) as caught:
        call(*arguments)
    return caught.value.problems


def changed(**changes: object) -> dict:
    """Blocks of the tiny study with some keys replaced."""
    return {block: {**TINY[block], **keys} for block, keys in changes.items()}


REFUSED = {
    "unknown key": ({"titel": "x"}, r"titel is not a known key\. Did you mean title\?"),
    "unknown nested key": (
        changed(training={"epoch": 3}),
        r"training\.epoch is not a known key\. Did you mean epochs\?",
    ),
    "wrong type": (changed(training={"threads": "two"}), r"training\.threads = 'two'"),
    "a number in quotes": (
        changed(training={"batch": "32"}),
        r"training\.batch = '32'",
    ),
    "negative": (changed(training={"epochs": -1}), r"training\.epochs = -1"),
    "no seed": ({"seeds": []}, r"seeds = \[\]"),
    "repeated seed": ({"seeds": [1, 1]}, r"seeds repeat"),
    "nothing to train": ({"variants": []}, r"nothing to train"),
    "no reason": ({"validation": {"images": 0}}, r"no validation images need a reason"),
    "a smaller study that does not say so": (
        {"reduced": None},
        r"differ from the report's: add `reduced:`",
    ),
    "a deviation of zero": (
        changed(data={"std": [0.0, 0.1, 0.1]}),
        r"data\.std\.0 = 0\.0",
    ),
    "unknown source": (
        changed(data={"source": "mnist"}),
        r"data\.source = 'mnist'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_value_is_refused_with_its_key(project: Path, case: str):
    """One sentence names the file, the key and the value."""
    changes, pattern = REFUSED[case]
    faults = faults_of(load_study, write_study(project, **changes))
    assert len(faults) == 1, faults
    assert faults[0].startswith("config/studies/tiny.yaml: ")
    assert re.search(pattern, faults[0]), faults[0]


def test_all_faults_are_reported_together(project: Path):
    """Nobody mends one fault only to be shown the next."""
    name = write_study(project, titel="x", seeds=[], **changed(training={"epochs": 0}))
    assert len(faults_of(load_study, name)) >= 3


UNRESOLVED = {
    "unknown variant": (
        {"variants": ["vitt"]},
        r"variants: 'vitt' does not exist\. Did you mean vit\?",
    ),
    "unknown family": (
        {"overrides": {"families": {"vitt": {}}}},
        r"overrides\.families: 'vitt' does not exist",
    ),
    "unknown setting for all": (
        {"overrides": {"all": {"wdith": 8}}},
        r"overrides\.all: wdith is a setting of no model\. Did you mean width\?",
    ),
    "unknown setting of a family": (
        {"overrides": {"families": {"vit": {"stages": 2}}}},
        r"overrides of vit: .*stages is not a known key",
    ),
    "too many stages": (
        {"variants": ["san-pairwise"], "overrides": {}},
        r"san-pairwise: stages = 4 shrink 16x16 .* at most 3 stages fit",
    ),
    "patches that do not divide": (
        {"overrides": {"all": {"patch_size": 3}}},
        r"vit: patch_size = 3 does not divide 16x16 images; possible: 1, 2, 4, 8, 16",
    ),
    "a picture that is not there": (
        {"attention": {"images": ["nofile.png"], "queries": [[3, 4]]}},
        r"attention\.images: the file 'nofile\.png' does not exist",
    ),
    "a sample that is not one": (
        {"attention": {"images": ["sample:moon.jpg"], "queries": [[3, 4]]}},
        r"'sample:moon\.jpg' is not a sample\. Known: sample:china\.jpg",
    ),
    "unknown setting of a variant that is not trained": (
        {"overrides": {"variants": {"resnet18": {"depth": 2}}}},
        r"overrides of resnet18: .*depth is not a known key",
    ),
    "query outside": (
        {"attention": {"images": [0], "queries": [[3, 16]]}},
        r"attention\.queries: \[3, 16\] lies outside 16x16 images",
    ),
}


@pytest.mark.parametrize("case", UNRESOLVED)
def test_what_does_not_fit_together_is_refused(project: Path, case: str):
    """Names and sizes are checked against one another before anything runs."""
    changes, pattern = UNRESOLVED[case]
    faults = faults_of(load_resolved, write_study(project, **changes))
    assert any(re.search(pattern, fault) for fault in faults), faults


def test_an_exponent_without_a_dot_is_a_number(project: Path):
    """YAML 1.1 reads 1e-3 as text; a learning rate must not become a string."""
    path = project / "config" / "variants" / "vit.yaml"
    path.write_text(
        path.read_text().replace("learning_rate: 0.01", "learning_rate: 1e-3")
    )
    assert load_variants()["vit"].recipe.learning_rate == 0.001


def test_a_repeated_key_is_refused(project: Path):
    """YAML silently keeps the last one; a study would not be what it says."""
    name = write_study(project)
    path = project / "config" / "studies" / f"{name}.yaml"
    path.write_text(path.read_text() + "\nseeds: [1]\n")
    assert "repeated key seeds" in faults_of(load_study, name)[0]


def test_an_unknown_study_is_named_with_a_suggestion(project: Path):
    """A typing error costs seconds."""
    assert "Did you mean demo?" in faults_of(load_study, "demmo")[0]


def test_overrides_go_from_general_to_particular(project: Path):
    """A variant's override beats its family's, and that the one for all."""
    overrides = {
        "all": {"layers": 1, "attention_dropout": 0.2},
        "families": {"learned2d": {"layers": 2, "width": 8}},
        "variants": {"learned2d-9h-content": {"width": 10}},
    }
    _, variants = load_resolved(write_study(project, overrides=overrides))
    model = variants["learned2d-9h-content"].model
    assert (model.layers, model.width, model.attention_dropout) == (2, 10, 0.2)
    assert variants["vit"].model.layers == 1


def test_a_shorter_study_keeps_the_shape_of_the_recipe():
    """Warm-up and evaluations scale with the epochs."""
    study, variants = load_resolved("short")
    budget = budget_of(variants["vit"].recipe, study.training)
    assert (budget.epochs, budget.warmup_epochs) == (30, max(1, round(5 * 30 / 100)))
    assert budget.evaluation_epochs[0] == 1
    assert budget.evaluation_epochs[-1] == budget.last_epoch == 31


def test_the_recipe_is_evaluated_where_the_authors_evaluate():
    """After epochs 1, 11, ..., last."""
    study, variants = load_resolved("paper")
    budget = budget_of(variants["resnet18"].recipe, study.training)
    assert budget.evaluation_epochs == tuple(range(1, 302, 10))


def test_the_fingerprint_knows_what_changes_numbers(project: Path):
    """A setting that decides numbers changes it; a label or a path does not."""
    name = write_study(project)
    before = find_run(name, "vit", 0).fingerprint
    write_study(project, title="Another", **changed(data={"path": "elsewhere"}))
    assert find_run(name, "vit", 0).fingerprint == before
    for block, keys in (
        ("training", {"threads": 2}),
        ("training", {"epochs": 3}),
        ("data", {"image_size": 32}),
    ):
        write_study(project, **changed(**{block: keys}))
        assert find_run(name, "vit", 0).fingerprint != before


def test_one_variant_s_setting_changes_that_variant_s_fingerprint_alone(project: Path):
    """So that changing it retrains nothing else."""
    name = write_study(project)
    before = {run.variant_id: run.fingerprint for run in runs_of(name)}
    overrides = {**TINY["overrides"], "variants": {"vit": {"width": 16}}}
    write_study(project, overrides=overrides)
    after = {run.variant_id: run.fingerprint for run in runs_of(name)}
    assert [name for name in before if before[name] != after[name]] == ["vit"]


def test_the_schema_matches_the_models():
    """Editors check YAML against these files; they are generated, never edited."""
    from reattn.config.schema import schemas

    for name, text in schemas().items():
        assert (ROOT / "workflow" / "schemas" / name).read_text() == text


def test_variant_files_say_only_what_the_models_know():
    """A key that no model reads would be a promise that nobody keeps."""
    for path in (ROOT / "config" / "variants").glob("*.yaml"):
        content = yaml.safe_load(path.read_text())
        assert content["model"].keys() <= set(
            type(load_variants()[path.stem].model).model_fields
        )
