"""Types of columns in schema/events.toml, and what each engine calls them."""

from __future__ import annotations

from typing import NamedTuple


class ColumnType(NamedTuple):
    """The names of one type."""

    duckdb: str
    spark: str
    arrow: str  # and Ibis


TYPES = {
    "string": ColumnType("VARCHAR", "string", "string"),
    "i64": ColumnType("BIGINT", "bigint", "int64"),
    "i32": ColumnType("INTEGER", "int", "int32"),
    "bool": ColumnType("BOOLEAN", "boolean", "boolean"),
    "f64": ColumnType("DOUBLE", "double", "float64"),
}
