"""The reference texts name what the code has, and nothing that it has not."""

import re
from typing import Any, get_args

import pytest
import yaml
from conftest import ROOT
from pydantic.fields import FieldInfo

from reattn.config import Recipe, Study, Variant, load_study, load_variants
from reattn.config.loading import names_in
from reattn.config.models import EncoderSettings, ModelSettings, Settings
from reattn.costs.parameters import parameters_by_formula

CONFIGURATION = (ROOT / "config" / "README.md").read_text()
MODELS = (ROOT / "docs" / "models.md").read_text()
FAMILIES = get_args(get_args(ModelSettings)[0])
DEVIATION = re.compile(r"\bD\d+\b")


def section(text: str, heading: str) -> str:
    """What stands below a heading of the second level."""
    return re.split(r"^## ", text.split(f"## {heading}\n")[1], flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """The cells of every table row, without heads, rules and code marks."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    bodies = [
        line
        for number, line in enumerate(lines)
        if not line.startswith("|---")
        and not lines[(number + 1) % len(lines)].startswith("|---")
    ]
    return [[cell.strip(" `") for cell in line[1:-1].split("|")] for line in bodies]


def shown(field: FieldInfo) -> str:
    """A default as the text writes it."""
    if field.is_required():
        return "required"
    default: Any = field.get_default(call_default_factory=True)
    if default is None:
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    return str(default) if default not in ([], {}) else "empty"


def nested(field: FieldInfo) -> type[Settings] | None:
    """The block that a key holds, if it holds one."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, Settings) else None


def settings_of(model: type[Settings]) -> dict[str, str]:
    """Dotted key to default, blocks left out."""
    found = {}
    for name, field in model.model_fields.items():
        block = nested(field)
        inner = settings_of(block) if block else {}
        found |= {f"{name}.{key}": value for key, value in inner.items()}
        if not block:
            found[name] = shown(field)
    return found


def test_every_key_of_a_study_is_there_with_its_default():
    """No key is missing, none is left over, no default is stale."""
    table = rows(section(CONFIGURATION, "A study"))
    assert {row[0]: row[2] for row in table} == settings_of(Study)
    assert len(table) == len(settings_of(Study))


def test_the_blocks_that_a_study_may_leave_out_are_named():
    """The others must be there."""
    blocks = {name: f for name, f in Study.model_fields.items() if nested(f)}
    optional = {name for name, field in blocks.items() if not field.is_required()}
    sentence = re.search(r"The blocks (.*?) are optional;\s(.*?) must", CONFIGURATION)
    named = [set(re.findall(r"`(\w+)`", part)) for part in sentence.groups()]
    assert named == [optional, set(blocks) - optional]


def test_every_key_of_a_variant_is_there_with_its_default():
    """Those of its recipe too; its model has a table of its own."""
    table = {row[0]: row[2] for row in rows(section(CONFIGURATION, "A variant"))}
    blocks = {"recipe": "required"}
    assert table == settings_of(Variant) | blocks
    assert set(Recipe.model_fields) == {
        key.removeprefix("recipe.") for key in table if "." in key
    }


@pytest.mark.parametrize("model", FAMILIES, ids=lambda model: model.__name__)
def test_every_setting_of_a_family_is_there_with_its_default(model: type[Settings]):
    """As in the classes, family by family."""
    family = get_args(model.model_fields["family"].annotation)[0]
    names = {family} | ({"encoders"} if issubclass(model, EncoderSettings) else set())
    table = {
        name: default
        for name, families, _, default, _ in rows(
            section(CONFIGURATION, "A variant's `model`")
        )
        if names & set(families.replace("`", "").split(", "))
    }
    expected = settings_of(model)
    assert expected.pop("family") == "required"
    assert table == expected


def test_every_variant_and_study_is_named():
    """By its id, which is its file's name, and no other id is."""
    prose = section(CONFIGURATION, "A variant").split("\n- Group")[0]
    named = set(re.findall(r"`([a-z0-9-]+)`", prose)) - {"report"}
    assert named == {n for n, v in load_variants().items() if v.group == "report"}
    table = rows(section(CONFIGURATION, "The studies"))
    assert {row[0] for row in table} == set(names_in("studies"))


def test_the_study_that_is_built_by_default():
    """And it exists."""
    content = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    table = rows(section(CONFIGURATION, "`config.yaml`"))
    told = {row[0]: yaml.safe_load(row[2]) for row in table}
    assert told == content | {"data_path": "none"}
    assert load_study(content["study"]).title


def deviations_with_a_setting() -> set[str]:
    """From the ledger and from what the settings say of themselves."""
    ledger = yaml.safe_load((ROOT / "config" / "deviations.yaml").read_text())
    described = " ".join(
        field.description or ""
        for model in FAMILIES
        for field in model.model_fields.values()
    )
    listed = {entry["id"] for entry in ledger if entry["setting"]}
    return listed | set(DEVIATION.findall(described))


def test_every_deviation_that_can_be_chosen_is_explained():
    """Under its number, in bold, with the name of its setting."""
    text = section(MODELS, "Settings for the authors' deviations")
    explained = re.findall(r"\*\*(D\d+) `", text)
    assert sorted(explained) == sorted(deviations_with_a_setting())


def test_deviations_that_the_text_names_exist():
    """In the ledger."""
    ledger = yaml.safe_load((ROOT / "config" / "deviations.yaml").read_text())
    assert set(DEVIATION.findall(MODELS)) <= {entry["id"] for entry in ledger}


def test_parameters_are_those_of_the_settings():
    """Every variant of the report, with its number."""
    table = rows(section(MODELS, "Parameters"))
    pairs = [pair for row in table for pair in (row[:2], row[2:])]
    counts = {name: int(count.replace(",", "")) for name, count in pairs}
    assert counts == {
        name: parameters_by_formula(variant.model, 32, 10)
        for name, variant in load_variants().items()
        if variant.group == "report"
    }


def row_of(variant: Variant) -> str:
    """The row of the training table that a variant belongs to."""
    family = variant.model.family
    if family.endswith("san"):
        return f"SAN, {variant.model.operation}"
    names = {"resnet": "ResNet18", "vit": "ViT"}
    return names.get(family, "learned 2D, quadratic")


@pytest.mark.parametrize(
    "name", [n for n, v in load_variants().items() if v.group == "report"]
)
def test_recipes_are_those_of_the_variants(name: str):
    """E, batch, rate, W, augmentation and smoothing, as trained."""
    variant = load_variants()[name]
    table = {row[0]: row[1:] for row in rows(section(MODELS, "Training"))}
    epochs, batch, rate, warmup, augmentation, smoothing = table[row_of(variant)]
    recipe = variant.recipe
    assert (int(epochs), int(batch)) == (recipe.epochs, recipe.batch)
    assert (float(rate), int(warmup)) == (recipe.learning_rate, recipe.warmup_epochs)
    assert augmentation.split(", ") == recipe.augmentation.split("-")
    assert float(smoothing) == recipe.label_smoothing


@pytest.mark.parametrize("path", ["config/README.md", "docs/models.md"])
def test_links_lead_somewhere(path: str):
    """From the folder that the text lies in."""
    text = (ROOT / path).read_text()
    targets = re.findall(r"\]\(([^)#]+)\)", text)
    assert targets
    for target in targets:
        assert ((ROOT / path).parent / target).exists(), target


def test_modules_that_the_text_names_exist():
    """A file that is renamed here is renamed there."""
    names = re.findall(r"`(\w+\.py)`", MODELS)
    assert len(set(names)) > 8
    for name in names:
        folder = "tests" if name.startswith("test_") else "src/reattn/models"
        assert (ROOT / folder / name).exists(), name
