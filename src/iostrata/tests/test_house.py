"""How the code is laid out: what `show` may not do, and names that stand for one thing only."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = (ROOT / "src/iostrata", ROOT / "lab/src/iostrata_lab")
_SQL = re.compile(r"\b(SELECT\b.*\bFROM|CREATE (OR REPLACE |TEMP )*(TABLE|VIEW))\b", re.DOTALL)


def modules(*folders: Path) -> Iterator[tuple[str, ast.Module]]:
    """The modules below folders, without tests, by their path."""
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(ROOT)
            if "tests" not in name.parts:
                yield str(name), ast.parse(path.read_text("utf-8"))


def texts(module: ast.Module) -> Iterator[str]:
    """The strings of a module, without docstrings."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        if isinstance(node, ast.JoinedStr):
            parts = (part.value for part in node.values if isinstance(part, ast.Constant))
            yield " ".join(map(str, parts))


def test_show_asks_the_store_nothing() -> None:
    """Exports aside, which write rows as they are."""
    asking = [
        name
        for name, module in modules(ROOT / "src/iostrata/show")
        if "/show/export/" not in name and any(map(_SQL.search, texts(module)))
    ]
    assert asking == []


def test_sql_is_recognized() -> None:
    module = ast.parse('rows(f"""\n SELECT x\n FROM {table} WHERE y""")')
    assert any(map(_SQL.search, texts(module)))


@pytest.mark.parametrize("folder", ["analyse", "explain", "show"])
def test_results_are_no_dictionaries_of_anything(folder: str) -> None:
    """What public functions take and return says what it is."""
    loose = [
        f"{name}: {function.name}"
        for name, module in modules(ROOT / "src/iostrata" / folder)
        for function in public(module)
        if function.returns is not None
        and re.search(r"dict\[str, Any\]|\bRow\b", ast.unparse(function.returns))
    ]
    assert loose == []


def public(scope: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Functions of a module, and methods of its classes, that others may call."""
    for node in scope.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public(node)
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node


def test_a_name_of_a_type_stands_for_one_type() -> None:
    places = defaultdict(list)
    for name, module in modules(*PACKAGES):
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
