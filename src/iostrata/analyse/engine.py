"""Where expressions are answered. One engine is one file beside this one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

from ibis.expr import types as ir

from iostrata.analyse.compiled import ROLES, compiled, name_of, to_sql, with_roles
from iostrata.records import records
from iostrata.store.opened import OpenedRun

_R = TypeVar("_R")


@dataclass(frozen=True)
class OfRoles:
    """An expression over processes of some roles; it may be compiled under its name, '' if not."""

    name: str
    make: Callable[[tuple[str, ...]], ir.Table]
    roles: tuple[str, ...]


# An analysis that needs no arguments is given as it is: it is not called where it is compiled.
Expression: TypeAlias = ir.Table | Callable[[], ir.Table] | OfRoles


class Engine(Protocol):
    """Answers expressions over the tables of one run."""

    def records(self, expression: Expression, kind: type[_R]) -> list[_R]:
        """The rows of an expression, in its order, as records: a field for each of its columns."""
        ...

    def sql(self, expression: Expression) -> str:
        """An expression as it is asked, in the engine's own words."""
        ...


def made(expression: Expression) -> ir.Table:
    """The expression itself."""
    if isinstance(expression, ir.Table):
        return expression
    return expression.make(expression.roles) if isinstance(expression, OfRoles) else expression()


class DuckDb:
    """In this process, on the files of an opened run: the default."""

    def __init__(self, opened: OpenedRun) -> None:
        self._opened = opened

    def records(self, expression: Expression, kind: type[_R]) -> list[_R]:
        """See `Engine.records`."""
        return records(self._opened.rows(self.sql(expression)), kind)

    def sql(self, expression: Expression) -> str:
        """See `Engine.sql`; `iostrata query` takes it as it is."""
        if isinstance(expression, OfRoles):
            sql = compiled(expression.name) or to_sql(expression.make((ROLES,)).op())
            return with_roles(sql, expression.roles)
        if isinstance(expression, ir.Table):
            return to_sql(expression.op())
        return compiled(name_of(expression)) or to_sql(expression().op())
