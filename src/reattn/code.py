"""A digest of the source that decides a run's numbers.

Layout, comments and docstrings do not count, nor do models of other families: only
what a training of one family imports.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent
NAME = PACKAGE.name
# Settings enter by their values (the fingerprint), images by their checksum.
PARTS = ("costs", "data", "models", "training")
WITHOUT_INFLUENCE = {
    f"{NAME}.training.{module}"
    for module in ("alone", "progress", "provenance", "tracking")
}


@cache
def code_hash(family: str, mechanism: str | None = None) -> str:
    """A digest of everything that training a family of models runs.

    Args:
        family: A family of models, such as "learned2d".
        mechanism: Of the family of that name: which one.

    Returns:
        Sixteen hexadecimal digits.
    """
    roots = [f"{NAME}.training.run", f"{NAME}.models.{family.replace('-', '_')}"]
    if mechanism:
        roots.append(f"{NAME}.models.mechanisms.{mechanism.replace('-', '_')}")
    digest = hashlib.sha256()
    for module, path in sorted(_reached(roots).items()):
        digest.update(module.encode())
        digest.update(_meaning(path))
    return digest.hexdigest()[:16]


def _reached(roots: list[str]) -> dict[str, Path]:
    """Modules that `roots` import, directly or not, and their files."""
    found: dict[str, Path] = {}
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        path = _file(module)
        if path is None or module in found or module in WITHOUT_INFLUENCE:
            continue
        found[module] = path
        waiting += _imports(path)
    return found


def _file(module: str) -> Path | None:
    """The file of a module of the parts that count, if it is one."""
    package, *inner = module.split(".")
    if package != NAME or not inner or inner[0] not in PARTS:
        return None
    path = PACKAGE.joinpath(*inner).with_suffix(".py")
    return path if path.is_file() else None


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


# Families share most modules, so each module is read once for all of them.
@cache
def _meaning(path: Path) -> bytes:
    """What a module does, as bytes that layout and comments leave alone."""
    return repr(_canonical(_parsed(path))).encode()


@cache
def _imports(path: Path) -> list[str]:
    """Every module, and every name of one, that a module imports."""
    found = []
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return found


def _canonical(node: Any) -> Any:
    """A syntax tree as plain values, alike in every version of Python."""
    if isinstance(node, list):
        return [_canonical(member) for member in node if not _is_text_alone(member)]
    if not isinstance(node, ast.AST):
        return node
    fields = [
        (name, _canonical(value))
        for name, value in ast.iter_fields(node)
        if value is not None and value != []
    ]
    return type(node).__name__, fields


def _is_text_alone(node: Any) -> bool:
    """Whether a statement is a docstring: text that nothing uses."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
