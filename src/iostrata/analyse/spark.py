"""Spark as an engine: for traces that one machine should not read. Needs the extra `spark`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import Row
from iostrata.errors import UserError
from iostrata.store.files import TABLES, VIEWS, Files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SQL_TYPES = {"string": "string", "i64": "bigint", "i32": "int", "bool": "boolean", "f64": "double"}


class Spark:
    """Answers in a Spark session: the one that is active, else a local one of its own.

    Raises UserError without pyspark.
    """

    def __init__(self, files: Files) -> None:
        self._session = _session()
        for name, paths in files.items():
            if paths:
                found = self._session.read.parquet(*map(str, paths))
            else:
                columns = TABLES[name][1].items()
                schema = ", ".join(f"`{column}` {_SQL_TYPES[kind]}" for column, kind in columns)
                found = self._session.createDataFrame([], schema)
            found.createOrReplaceTempView(name)
        for name, conditions in VIEWS.items():
            where = " AND ".join(conditions)
            self._session.table("events").where(where).createOrReplaceTempView(name)

    def rows(self, expression: ir.Table) -> list[Row]:
        """See `Engine.rows`."""
        return [row.asDict() for row in self._session.sql(self.sql(expression)).collect()]

    def sql(self, expression: ir.Table) -> str:
        """See `Engine.sql`."""
        return str(ibis.to_sql(expression, dialect="pyspark"))


def _session() -> SparkSession:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        remedy = "pip install 'iostrata[spark]', with a JDK of 17 or newer"
        raise UserError("Spark is not installed", remedy) from error
    _ = ibis.pyspark  # what is set for it is known to the compiler from here on
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    builder = SparkSession.builder.appName("iostrata").config("spark.ui.enabled", "false")
    # A local session needs none of the 200 parts that a cluster's shuffle has.
    return builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
