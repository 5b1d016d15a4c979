"""The environment: one list of packages in three places, and nothing unlisted."""

import ast
import re
import sys
import tomllib

import yaml
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Import names that differ from their package's name.
PACKAGES = {
    "PIL": "pillow",
    "pynvml": "nvidia-ml-py",
    "pypandoc": "pypandoc-binary",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


def environment() -> list[str]:
    """The packages of environment.yml, as it writes them."""
    content = yaml.safe_load((ROOT / "environment.yml").read_text())
    (packages,) = [p for p in content["dependencies"] if isinstance(p, dict)]
    return packages["pip"]


def project() -> list[str]:
    """The packages of pyproject.toml, those for development included."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return content["dependencies"] + content["optional-dependencies"]["dev"]


def lock() -> dict[str, str]:
    """Package to version of requirements.lock."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[^=+]+", pin) for pin in pins)
    return dict(pin.split("==") for pin in pins)


def test_environment_and_project_name_the_same_packages():
    """conda's users and pip's get the same."""
    assert sorted(environment()) == sorted(project())


def test_the_lock_satisfies_every_bound():
    """And pins every package that is asked for."""
    pins = lock()
    for text in environment():
        requirement = Requirement(text)
        version = pins[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version, prereleases=True), text


def test_the_environment_can_be_created_elsewhere():
    """Case D18: no build strings, no prefix; channels and Python are stated."""
    content = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert "prefix" not in content
    assert content["channels"]
    plain = [part for part in content["dependencies"] if isinstance(part, str)]
    assert any(part.startswith("python>=3.11") for part in plain)
    for part in [*plain, *environment()]:
        assert re.fullmatch(r"[A-Za-z0-9_-]+(>=[0-9.]+)?(,<[0-9.]+)?", part), part


def imported(folder: str) -> set[str]:
    """Top-level names of the packages that a folder's modules import."""
    names = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names) - {"reattn", "conftest"}


def test_every_package_that_is_imported_is_listed():
    """Nothing works by accident of another package's needs."""
    listed = {canonicalize_name(Requirement(text).name) for text in environment()}
    own = {path.stem for path in (ROOT / "tests").glob("*.py")}
    for name in imported("src") | (imported("tests") - own):
        package = canonicalize_name(PACKAGES.get(name, name))
        assert package in listed, name
