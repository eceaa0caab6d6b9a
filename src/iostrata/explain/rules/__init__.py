"""The registry of rules: each file beside this one has a `judge` and names it, `parts` aside."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from iostrata.explain.finding import Rule
from iostrata.registry import Registry

_FILES = sorted(module.name for module in iter_modules(__path__) if module.name != "parts")


def _rule(file: str) -> Rule[Any]:
    rule, name = import_module(f"{__name__}.{file}").judge, file.replace("_", "-")
    return replace(rule, name=name, evidence=replace(rule.evidence, name=f"rule {name}"))


RULES = Registry[Rule[Any]]("rule", map(_rule, _FILES))
