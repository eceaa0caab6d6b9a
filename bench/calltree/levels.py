#!/usr/bin/env python3
"""The baseline: merges sibling sets level by level in DuckDB and prints a JSON line.

bench/calltree/levels.py THREADS FILE.parquet…
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb

SQL = Path(__file__).with_name("levels.sql")


def merge(files: list[str], threads: int) -> dict[str, int]:
    """nodes, calls, total (ns), bytes of the trees, and the spans they are made of."""
    db = duckdb.connect(config={"threads": str(threads)})
    named = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    steps = SQL.read_text("utf-8").replace("$FILES", f"[{named}]").split(";")
    span, edge, placed, shape, node, shapes, nodes, result = steps[:8]
    for step in (span, edge, placed, shape, node):
        db.execute(step)
    deepest = db.execute("SELECT coalesce(max(depth), -1) FROM placed").fetchall()[0][0]
    for level in range(deepest, -1, -1):
        db.execute(shapes.replace("$LEVEL", str(level)))
    for level in range(deepest + 1):
        db.execute(nodes.replace("$LEVEL", str(level)))
    rows = db.execute(result).fetchall()
    spans = db.execute("SELECT count(*) FROM span").fetchall()[0][0]
    return {
        "spans": spans,
        "nodes": len(rows),
        "calls": sum(row[4] for row in rows),
        "bytes": sum(row[6] for row in rows),
        "total": sum(row[7] or 0 for row in rows),
    }


if __name__ == "__main__":
    print(json.dumps(merge(sys.argv[2:], int(sys.argv[1]))))
