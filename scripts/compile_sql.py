#!/usr/bin/env python3
"""Compiles what iostrata asks of every run to SQL, ahead of time: see iostrata.analyse.compiled.

scripts/compile_sql.py      nothing to do where it is up to date; else some 6 seconds of CPU
"""

from __future__ import annotations

import inspect
import os
import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from iostrata import analyse
from iostrata.analyse.compiled import FILE, ROLES, Compiled, digest, name_of, to_sql
from iostrata.explain import Workforce, facts
from iostrata.explain.rules import RULES
from iostrata.explain.rules.parts import READS


def analyses() -> Iterator[Callable[[], Any]]:
    """All functions that make a table of nothing."""
    for module in _modules():
        for _, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and _needs_nothing(function):
                yield function


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(analyse.__path__, f"{analyse.__name__}."):
        if ".tests" not in found.name:
            yield import_module(found.name)
    yield facts


def _needs_nothing(function: Callable[..., Any]) -> bool:
    given = inspect.signature(function).parameters.values()
    optional = [
        each.default is not each.empty or each.kind == each.VAR_POSITIONAL for each in given
    ]
    return function.__annotations__.get("return") == "ir.Table" and all(optional)


def compiled() -> dict[str, str]:
    """SQL by the name of its expression."""
    workforce = Workforce((ROLES,))
    sql = {name_of(analysis): to_sql(analysis().op()) for analysis in analyses()}
    for query in (*(rule.evidence for rule in RULES.values()), READS):
        made = to_sql(query.expression(workforce).op())
        if made.count(ROLES) != made.count(f" IN ('{ROLES}')"):
            raise ValueError(f"{query.name} asks for roles, but not with isin alone:\n{made}")
        sql[query.name] = made
    return sql


def is_current(now: str) -> bool:
    """Whether the file is there, of these sources and of this script."""
    try:
        stored = msgspec.json.decode(FILE.read_bytes(), type=Compiled)
    except (OSError, msgspec.DecodeError):
        return False
    return stored.digest == now and FILE.stat().st_mtime > Path(__file__).stat().st_mtime


def main() -> None:
    """Writes the file unless it is up to date."""
    now = digest()
    if is_current(now):
        return
    made = FILE.with_name(f"{FILE.name}.{os.getpid()}.tmp")
    made.write_bytes(msgspec.json.encode(Compiled(now, compiled())))
    made.replace(FILE)
    print(f"{FILE.name}: {FILE.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
