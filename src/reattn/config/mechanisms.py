"""What can be told of a mechanism of one's own without running it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from reattn.config.faults import suggestion
from reattn.config.models import MechanismSettings, ModelSettings

FOLDER = Path(__file__).parents[1] / "models" / "mechanisms"
SHOWN = "src/reattn/models/mechanisms"
CLASS = "Attention"
GIVEN = 2  # settings and grid, which every attention is made with; then its options


def mechanism_path(mechanism: str) -> Path:
    """The module of a mechanism, whether it is there or not."""
    return FOLDER / f"{mechanism.replace('-', '_')}.py"


def mechanism_faults(settings: ModelSettings) -> list[str]:
    """Why a mechanism cannot be used as a variant asks; empty for other families.

    The module is parsed and not run, so that no model is built and torch not loaded.
    What a class inherits is not looked at.

    Args:
        settings: A model's settings.
    """
    if not isinstance(settings, MechanismSettings):
        return []
    path = mechanism_path(settings.mechanism)
    shown = f"{SHOWN}/{path.name}"
    if not path.is_file():
        return [_absent(settings.mechanism, shown)]
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as fault:
        return [f"{shown}: line {fault.lineno}: {fault.msg}. Mend it."]
    except (OSError, ValueError) as fault:
        return [f"{shown} cannot be read: {fault}. Save it as UTF-8 text."]
    if CLASS not in _bound(tree):
        return [f"{shown} has no class {CLASS}. Add it."]
    return [f"{shown}: {fault}" for fault in _call_faults(tree, settings)]


def _absent(mechanism: str, shown: str) -> str:
    known = [path.stem.replace("_", "-") for path in FOLDER.glob("[!_]*.py")]
    return (
        f"mechanism = {mechanism!r}: there is no {shown}. "
        f"{suggestion(mechanism, known)} `python -m reattn new-variant --help` tells "
        "how to begin one."
    )


def _bound(tree: ast.Module) -> set[str]:
    """Names that a module's own statements define, import or assign."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    return names


def _call_faults(tree: ast.Module, settings: MechanismSettings) -> Iterator[str]:
    """Why Attention(settings, grid, **options) would not be taken."""
    arguments = _arguments(tree)
    if arguments is None:
        return
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)][1:]
    if len(positional) < GIVEN and not arguments.vararg:
        yield f"{CLASS}.__init__ should take (self, settings, grid, *, options ...)."
        return
    options = _options(arguments)
    for name in settings.options if not arguments.kwarg else ():
        if name not in options:
            known = suggestion(name, options) if options else "Remove it."
            yield f"options: {name} is no argument of {CLASS}. {known}"
    for name, required in options.items():
        if required and name not in settings.options:
            yield f"options: {name} is missing, which {CLASS} asks for. Add it."


def _arguments(tree: ast.Module) -> ast.arguments | None:
    """What the class is made with, if it says so itself."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == CLASS:
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name == "__init__":
                    return member.args
    return None


def _options(arguments: ast.arguments) -> dict[str, bool]:
    """Arguments besides those that are always given, and whether they must be."""
    plain = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    needed = len(plain) - len(arguments.defaults)
    found = {
        name: place < needed
        for place, name in enumerate(plain)
        if place > GIVEN and place >= len(arguments.posonlyargs)
    }
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return found | {each.arg: default is None for each, default in named}
