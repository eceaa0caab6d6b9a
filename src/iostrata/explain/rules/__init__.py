"""The registry of rules: each file beside this one has its RULE, `parts` aside."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from iostrata.explain.finding import Rule

_NAMES = sorted(module.name for module in iter_modules(__path__) if module.name != "parts")
RULES: tuple[Rule[Any], ...] = tuple(import_module(f"{__name__}.{name}").RULE for name in _NAMES)
