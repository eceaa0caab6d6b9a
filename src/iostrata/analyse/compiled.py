"""SQL of expressions that was compiled ahead of time: Ibis takes seconds for what all rules ask.

`make build` writes it (scripts/compile_sql.py). It counts while the sources that it was made of,
and Ibis, are those of today; else an expression is compiled when it is asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import ibis
import msgspec
from ibis.expr import operations as ops
from ibis.expr import types as ir

_PACKAGE = Path(__file__).resolve().parents[1]
# Where values come from that stand in expressions.
_MADE_OF = ("*.py", "analyse/**/*.py", "explain/**/*.py", "schema/**/*.py", "store/**/*.py")
_COMPILERS = ("ibis-framework", "sqlglot")
FILE = _PACKAGE / "analyse/_compiled.json"
# Stands for the roles of a run's workers, which are not known ahead of time.
ROLES = "<roles>"


class Compiled(msgspec.Struct, frozen=True):
    """What the file holds: SQL by the name of its expression."""

    digest: str
    sql: dict[str, str]


def name_of(analysis: Callable[[], ir.Table]) -> str:
    """The name under which an analysis is compiled, without arguments."""
    return f"{analysis.__module__}.{analysis.__qualname__}"


def compiled(name: str) -> str | None:
    """The SQL of an expression, with `ROLES` for roles; None: it is not compiled, or not so now."""
    return _known().get(name)


@cache
def _known() -> dict[str, str]:
    try:
        stored = msgspec.json.decode(FILE.read_bytes(), type=Compiled)
    except (OSError, msgspec.DecodeError):
        return {}
    return stored.sql if stored.digest == digest() else {}


def digest() -> str:
    """Of all that SQL is made of."""
    made_of = hashlib.sha256(" ".join(map(version, _COMPILERS)).encode())
    for path in sorted({path for pattern in _MADE_OF for path in _PACKAGE.glob(pattern)}):
        if "tests" not in path.parts:
            made_of.update(path.read_bytes())
    return made_of.hexdigest()


def with_roles(sql: str, roles: tuple[str, ...]) -> str:
    """SQL with these for `ROLES`."""
    quoted = ("'" + role.replace("'", "''") + "'" for role in roles)
    return sql.replace(f"'{ROLES}'", ", ".join(quoted))


@cache  # some 40 ms each
def to_sql(operation: ops.Relation) -> str:
    """An expression in the SQL of DuckDB."""
    return str(ibis.to_sql(operation.to_expr(), dialect="duckdb"))
