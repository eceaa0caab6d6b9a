"""Where expressions are answered. One engine is one file beside this one."""

from __future__ import annotations

from typing import Protocol

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import Row
from iostrata.store.opened import OpenedRun


class Engine(Protocol):
    """Answers expressions over the tables of one run."""

    def rows(self, expression: ir.Table) -> list[Row]:
        """The rows of an expression, in its order; values are those of Python."""
        ...


class DuckDb:
    """In this process, on the files of an opened run: the default."""

    def __init__(self, opened: OpenedRun) -> None:
        self._opened = opened

    def rows(self, expression: ir.Table) -> list[Row]:
        return self._opened.rows(str(ibis.to_sql(expression, dialect="duckdb")))
