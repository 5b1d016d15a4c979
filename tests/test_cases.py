"""Every public report that the pipeline must not repeat has a test that names it."""

import ast
import re

from conftest import ROOT

CASES = {*(f"D{n:02}" for n in range(1, 21)), *(f"R{n}" for n in range(1, 6))}
NAMED = re.compile(r"\bCases? ((?:[DR]\d+(?:, | and )?)+)")


def cases_of_tests() -> dict[str, set[str]]:
    """The tests and fixtures whose docstring names a case, by the case."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "tests").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for cases in NAMED.findall(ast.get_docstring(node) or ""):
                    for case in re.findall(r"[DR]\d+", cases):
                        found.setdefault(case, set()).add(f"{path.name}::{node.name}")
    return found


def test_every_case_has_a_test():
    """D01 to D20 and R1 to R5; a name that is no case is a slip of the pen."""
    assert cases_of_tests().keys() == CASES
