"""Where expressions are answered. One engine is one file beside this one."""

from __future__ import annotations

from functools import cache
from typing import Protocol, TypeVar

import ibis
from ibis.expr import operations as ops
from ibis.expr import types as ir

from iostrata.records import records
from iostrata.store.opened import OpenedRun

_R = TypeVar("_R")


class Engine(Protocol):
    """Answers expressions over the tables of one run."""

    def records(self, expression: ir.Table, kind: type[_R]) -> list[_R]:
        """The rows of an expression, in its order, as records: a field for each of its columns."""
        ...

    def sql(self, expression: ir.Table) -> str:
        """An expression as it is asked, in the engine's own words."""
        ...


class DuckDb:
    """In this process, on the files of an opened run: the default."""

    def __init__(self, opened: OpenedRun) -> None:
        self._opened = opened

    def records(self, expression: ir.Table, kind: type[_R]) -> list[_R]:
        """See `Engine.records`."""
        return records(self._opened.rows(self.sql(expression)), kind)

    def sql(self, expression: ir.Table) -> str:
        """See `Engine.sql`; `iostrata query` takes it as it is."""
        return _duckdb(expression.op())


@cache  # to compile an expression takes some 40 ms; they are few
def _duckdb(operation: ops.Relation) -> str:
    return str(ibis.to_sql(operation.to_expr(), dialect="duckdb"))
