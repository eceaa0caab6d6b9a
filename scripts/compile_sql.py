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
from types import ModuleType
from typing import Any

import msgspec

from iostrata import analyse
from iostrata.analyse.compiled import FILE, ROLES, Compiled, digest, name_of, to_sql
from iostrata.explain import Workforce, facts
from iostrata.explain.rules import RULES


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
    for rule in RULES.values():
        made = to_sql(rule.evidence.expression(workforce).op())
        if made.count(ROLES) != made.count(f" IN ('{ROLES}')"):
            raise ValueError(f"{rule.name} asks for roles, but not with isin alone:\n{made}")
        sql[rule.evidence.name] = made
    return sql


def main() -> None:
    """Writes the file unless it is up to date."""
    now = digest()
    try:
        if msgspec.json.decode(FILE.read_bytes(), type=Compiled).digest == now:
            return
    except (OSError, msgspec.DecodeError):
        pass
    made = FILE.with_name(f"{FILE.name}.{os.getpid()}.tmp")
    made.write_bytes(msgspec.json.encode(Compiled(now, compiled())))
    made.replace(FILE)
    print(f"{FILE.name}: {FILE.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
