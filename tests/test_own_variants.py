"""Variants of one's own: a file that explains itself, a module that is found."""

import errno
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from conftest import ROOT, write_study

from reattn.config import load_resolved, load_variant, load_variants, new_variants
from reattn.config import mechanisms as checks
from reattn.config.loading import names_in
from reattn.config.models import EncoderSettings, MechanismSettings
from reattn.config.new_variants import TEMPLATE_OPTIONS, write_new_variant
from reattn.config.variants import Variant
from reattn.errors import ConfigError, ReattnError
from reattn.models.build import build_model
from reattn.models.recording import attention_probabilities

LIKE = load_variants()
CHANGED = {
    *("label", "group", "order", "source", "compared_with", "deviation"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of mechanisms beside the package's own, which nothing is written to."""
    import reattn.models.mechanisms

    found = tmp_path / "mechanisms"
    found.mkdir()
    package = reattn.models.mechanisms.__path__
    monkeypatch.setattr(reattn.models.mechanisms, "__path__", [*package, str(found)])
    monkeypatch.setattr(checks, "FOLDER", found)
    yield found
    for name in list(sys.modules):
        if name.startswith("reattn.models.mechanisms."):
            del sys.modules[name]


def settings(**changes: object) -> MechanismSettings:
    """Of a small model with a mechanism."""
    small = {"heads": 2, "width": 8, "feed_forward": 8, "layers": 2}
    given = {"family": "mechanism", "mechanism": "mine", **small, **changes}
    return MechanismSettings.model_validate(given)


def faults_of(text: str, folder: Path, **options: object) -> list[str]:
    """What is said of a module."""
    (folder / "mine.py").write_text(text)
    return checks.mechanism_faults(settings(options=options))


# The file


@pytest.mark.parametrize("like", LIKE)
def test_the_new_file_has_the_settings_of_the_other_one(project: Path, like: str):
    """Protects who starts from a model of the report and changes one thing."""
    write_new_variant("mine", like)
    mine, other = load_variant("mine"), LIKE[like]
    assert mine.model == other.model
    assert mine.recipe == other.recipe
    assert mine.ordinary == other.ordinary
    assert (mine.group, mine.compared_with, mine.deviation) == ("own", like, None)
    assert mine.order > max(variant.order for variant in LIKE.values())
    assert list(load_variants())[-1] == "mine"


def test_every_key_is_explained(project: Path):
    """Each has a comment above it, with all values that it can have."""
    write_new_variant("mine", "vit")
    lines = (project / "config" / "variants" / "mine.yaml").read_text().splitlines()
    for above, line in itertools.pairwise(lines):
        if not line.lstrip().startswith("#") and line not in ("model:", "recipe:"):
            assert above.lstrip().startswith("# "), line
    text = " ".join(line.lstrip(" #") for line in lines)
    assert "D7: uniform noise at every forward, or a learned vector. " in text
    assert "One of: authors, learned. class_token: authors" in text
    assert "One of: report, audit, projections, depth, own. group: own" in text
    keys = {*Variant.model_fields, *type(LIKE["vit"].model).model_fields}
    assert all(f"{key}:" in text for key in keys)
    assert max(map(len, lines)) <= 88


@pytest.mark.parametrize("name", ["1e3", "true", "null", "2024"])
def test_names_that_yaml_takes_for_something_else(project: Path, name: str):
    """They stay names, in the file and in what is compared with it."""
    write_new_variant(name, "resnet18")
    write_new_variant("mine", name)
    assert load_variant("mine").compared_with == name


@pytest.mark.parametrize(
    ("name", "like", "mechanism", "words"),
    [
        ("vit", "resnet18", None, "config/variants/vit.yaml exists"),
        ("My_Own", "resnet18", None, "lowercase letters"),
        ("../escape", "resnet18", None, "lowercase letters"),
        ("mine", "resnet81", None, "Did you mean resnet18?"),
        ("mine", "san-pairwise", "window", "its family is san"),
        ("mine", "vit", "template", "template.py exists"),
        ("mine", "vit", "../escape", "lowercase letters"),
    ],
)
def test_what_cannot_be_begun(
    project: Path, name: str, like: str, mechanism: str | None, words: str
):
    """Says why, and writes nothing."""
    before = sorted(project.rglob("*")), sorted(checks.FOLDER.iterdir())
    with pytest.raises(ConfigError) as fault:
        write_new_variant(name, like, mechanism)
    assert words in str(fault.value)
    assert (sorted(project.rglob("*")), sorted(checks.FOLDER.iterdir())) == before


def test_a_disk_that_is_full_leaves_neither_file(
    project: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """Half of a mechanism would be found the next time, and refused."""
    write = new_variants.write_text

    def fail(path: Path, text: str) -> None:
        if path.suffix == ".yaml":
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, text)

    monkeypatch.setattr(new_variants, "write_text", fail)
    before = names_in("variants")
    with pytest.raises(OSError, match="No space left"):
        write_new_variant("mine", "vit", "window")
    assert names_in("variants") == before
    assert not list(folder.iterdir())


def test_the_command_says_what_to_do_next(project: Path):
    """And ends without a traceback where it cannot."""
    command = [sys.executable, "-m", "reattn", "new-variant", "mine", "--like"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    arguments = {"capture_output": True, "text": True, "env": environment}
    refused = subprocess.run([*command, "vitt"], **arguments)
    assert refused.returncode == 2
    assert "Did you mean vit?" in refused.stderr
    assert "Traceback" not in refused.stderr
    done = subprocess.run([*command, "vit"], **arguments)
    assert done.returncode == 0
    for words in ("config/variants/mine.yaml", "variants:", "--config study="):
        assert words in done.stdout


# The module


def test_a_new_mechanism_computes_and_is_looked_at(project: Path, folder: Path):
    """What is written works at once, in a hierarchical encoder too."""
    write_new_variant("mine", "ha-learned2d-9h-content", "some-window")
    other = LIKE["ha-learned2d-9h-content"]
    mine = load_variant("mine")
    assert mine.model.family == "mechanism"
    assert (mine.model.mechanism, mine.model.options) == (
        *("some-window", TEMPLATE_OPTIONS),
    )
    for key in EncoderSettings.model_fields:
        assert getattr(mine.model, key) == getattr(other.model, key)
    assert (folder / "some_window.py").is_file()
    assert checks.mechanism_faults(mine.model) == []
    small = {"heads": 3, "width": 8, "feed_forward": 8, "layers": 2}
    model = build_model(mine, image_size=8, **small)
    maps = attention_probabilities(model, torch.randn(2, 3, 8, 8))
    assert [each.shape for each in maps] == [torch.Size([2, 3, 4, 4, 4, 4])] * 2
    assert torch.allclose(maps[1].sum(dim=(-1, -2)), torch.ones(2, 3, 4, 4))
    model(torch.randn(2, 3, 8, 8)).sum().backward()
    assert all(each.grad is not None for each in model.parameters())


def test_the_template_is_the_attention_of_dot_products(project: Path, folder: Path):
    """By the equation in its docstring, written out."""
    write_new_variant("mine", "learned2d-9h-content", "some-window")
    small = {"heads": 2, "width": 8, "feed_forward": 8, "layers": 1}
    options = {"options": {"temperature": 0.5}}
    model = build_model("mine", image_size=8, **small, **options).eval()
    attention = model.encoder.blocks[0].attention
    x = torch.randn(1, 16, 8)
    expected = []
    for head in range(2):
        rows = slice(8 * head, 8 * head + 8)
        q, k = x @ attention.query.weight[rows].T, x @ attention.key.weight[rows].T
        expected.append((q @ k.mT / (0.5 * 8**0.5)).softmax(-1) @ x)
    result, keys = attention(x)
    assert attention(torch.randn(1, 16, 8), keys)[1] is keys
    output = attention.values.output(torch.cat(expected, dim=-1))
    assert torch.allclose(result, output, atol=1e-6)


WINDOW = """
class Attention(Base):
    def __init__(self, settings, grid, *, radius, learned=True): ...
"""


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("class Other: ...", {}, "has no class Attention. Add it."),
        ("class Attention(:", {}, "mine.py: line 1:"),
        ("text = '\udce9'", {}, "cannot be read"),
        (WINDOW, {"radios": 1}, "radios is no argument of Attention. Did you mean rad"),
        (WINDOW, {"learned": False}, "radius is missing"),
        (WINDOW.replace("*, radius", "radius"), {}, "radius is missing"),
        (WINDOW, {"radius": 1, "grid": 2}, "grid is no argument"),
        (WINDOW.replace(", grid", ""), {"radius": 1}, "should take (self, settings, g"),
        (WINDOW.replace(", *, radius, learned=True", ""), {"a": 1}, "Remove it."),
    ],
)
def test_a_mechanism_that_would_fail_is_told_before_any_work(
    folder: Path, text: str, options: dict, words: str
):
    """In place of a training that ends in a traceback hours later."""
    (folder / "mine.py").write_bytes(text.encode(errors="surrogateescape"))
    told = " ".join(checks.mechanism_faults(settings(options=options)))
    assert words in told
    assert "src/reattn/models/mechanisms/mine.py" in told


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (WINDOW, {"radius": 1}),
        (WINDOW, {"radius": 1, "learned": False}),
        (WINDOW.replace("*, radius", "radius"), {"radius": 1}),
        (WINDOW.replace("*, radius, learned=True", "**options"), {"any": 1}),
        (WINDOW.replace("settings, grid, *,", "*given,"), {"radius": 1}),
        ("class Attention(Base): ...", {"inherited": 1}),
        ("from elsewhere import Attention", {"any": 1}),
        ("from elsewhere import Window as Attention", {"any": 1}),
        ("Attention = make()", {"any": 1}),
    ],
)
def test_a_mechanism_that_may_work_is_let_through(
    folder: Path, text: str, options: dict
):
    """What is inherited or imported is not known before the module runs."""
    assert faults_of(text, folder, **options) == []


def test_a_study_tells_a_mechanism_that_is_not_there(project: Path):
    """With the other faults, by the study's check, and without torch."""
    write_new_variant("mine", "vit")
    path = project / "config" / "variants" / "mine.yaml"
    content = yaml.safe_load(path.read_text())
    for key in ("stem_width", "class_token", "residual"):
        del content["model"][key]
    content["model"] |= {"family": "mechanism", "mechanism": "templat"}
    path.write_text(yaml.safe_dump(content))
    write_study(project, variants=["mine"])
    with pytest.raises(ReattnError) as fault:
        load_resolved("tiny")
    assert "mine: mechanism = 'templat': there is no src/reattn" in str(fault.value)
    assert "Did you mean template?" in str(fault.value)
    module = "reattn.config.new_variants"
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_study_may_override_a_family_that_no_variant_has_yet(project: Path):
    """So that the demo is ready for mechanisms of others."""
    write_study(project, overrides={"families": {"mechanism": {"width": 8}}})
    load_resolved("tiny")
