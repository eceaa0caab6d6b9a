"""Spark as an engine: for traces that one machine should not read. Needs the extra `spark`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import ibis

from iostrata.analyse.engine import Expression, made
from iostrata.errors import UserError
from iostrata.records import records
from iostrata.schema.columns import READ_AS, as_read
from iostrata.schema.types import TYPES
from iostrata.store.files import TABLES, VIEWS, Files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_R = TypeVar("_R")


class Spark:
    """Answers where a Spark session is active, else in a local one; in `session`, which has views
    and settings of its own and shares all else.

    Raises UserError without pyspark.
    """

    def __init__(self, files: Files) -> None:
        self.session = session().newSession()
        # Its reader of whole vectors does not know BYTE_STREAM_SPLIT, in which numbers are written.
        self.session.conf.set("spark.sql.parquet.enableVectorizedReader", "false")
        for name, paths in files.items():
            if paths:
                found = self.session.read.parquet(*map(str, paths)).withColumnsRenamed(READ_AS)
            else:
                columns = as_read(TABLES[name][1]).items()
                schema = ", ".join(f"`{column}` {TYPES[kind].spark}" for column, kind in columns)
                found = self.session.createDataFrame([], schema)
            found.createOrReplaceTempView(name)
        for name, conditions in VIEWS.items():
            where = " AND ".join(conditions)
            self.session.table("events").where(where).createOrReplaceTempView(name)

    def records(self, expression: Expression, kind: type[_R]) -> list[_R]:
        """See `Engine.records`."""
        rows = self.session.sql(self.sql(expression)).collect()
        return records((row.asDict() for row in rows), kind)

    def sql(self, expression: Expression) -> str:
        """See `Engine.sql`."""
        return str(ibis.to_sql(made(expression), dialect="pyspark"))


def session(settings: Mapping[str, str] | None = None) -> SparkSession:
    """The session that is active, else a local one with `settings`; raises UserError without
    pyspark.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        remedy = "pip install 'iostrata[spark]', with a JDK of 17 or newer"
        raise UserError("Spark is not installed", remedy) from error
    _ = ibis.pyspark  # what is set for it is known to the compiler from here on
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    # Its workers are this Python, which has pyarrow, not the first of the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # A local session needs none of the 200 parts that a cluster's shuffle has.
    given = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4"}
    builder = SparkSession.builder.appName("iostrata")
    for name, value in (given | {**(settings or {})}).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
