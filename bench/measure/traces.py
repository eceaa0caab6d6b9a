"""What a recorded run says of itself: how much was traced, in which mode, and what is missing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iostrata.analyse.summary import summary
from iostrata.schema.points import POINTS
from iostrata.schema.roles import SERVERS
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run

# Counted for every call, with sampled clocks and no row of their own.
HOT = ", ".join(str(point.id) for point in POINTS if point.mode in ("counted", "record"))
Row = dict[str, Any]
MODES = ("detail", "summed", "hot")


def facts(store: Path, name: str) -> dict[str, Any]:
    """Of one run: calls by layer and mode, events, rows, bytes, JVMs of its own, problems.

    detail: recorded individually; summed: of points that could be, counted only; hot: always
    counted.
    """
    with OpenedRun(find_run(store, name)) as opened:
        found = summary(opened)
        rows = opened.rows("SELECT count(*) FILTER (kind <> 'sum') AS events, count(*) AS rows "
                           "FROM events")[0]  # fmt: skip
        size = sum(path.stat().st_size for path in opened.run.path.resolve().rglob("*.parquet"))
        coverage = found.processes
        losses = {"dropped": found.dropped, "collapsed": found.collapsed, "lost": found.lost}
        problems = [f"{count} calls {name}" for name, count in losses.items() if count]
        problems += [f"points switched off by a fault: {', '.join(found.faulted_points)}"] * bool(
            found.faulted_points
        )
        if coverage.traced != coverage.total:
            problems.append(f"{coverage.traced} of {coverage.total} processes traced")
        problems += [f"DataNode {node.name} not traced" for node in coverage.missing_datanodes]
        return {
            **rows,
            "bytes": size,
            "calls": calls(opened.rows),
            "jvms": sum(1 for one in coverage.processes if one.role not in SERVERS),
            "state": opened.run.state,
            "problems": problems,
        }


def calls(rows: Callable[[str], list[Row]], where: str = "true") -> dict[str, dict[str, int]]:
    """Calls by layer and mode; `rows` answers queries on events, `where` chooses among these."""
    query = f"""
        SELECT layer, coalesce(sum(count) FILTER (kind = 'sum'), 0)::BIGINT AS all_calls,
            coalesce(sum(count) FILTER (kind = 'sum' AND point IN ({HOT})), 0)::BIGINT AS hot,
            count(*) FILTER (kind = 'call' AND point NOT IN ({HOT})) AS detail
        FROM events WHERE kind IN ('sum', 'call') AND layer IS NOT NULL AND ({where})
        GROUP BY layer ORDER BY layer"""
    return {
        row["layer"]: {
            "detail": row["detail"],
            "summed": max(0, row["all_calls"] - row["hot"] - row["detail"]),
            "hot": row["hot"],
        }
        for row in rows(query)
    }


def by_mode(layers: dict[str, dict[str, int]]) -> dict[str, int]:
    """Calls by mode, of all layers."""
    return {mode: sum(layer[mode] for layer in layers.values()) for mode in MODES}


def forget(store: Path, name: str) -> None:
    """Removes a run: what is kept of it is in the results."""
    shutil.rmtree(store / name, ignore_errors=True)
