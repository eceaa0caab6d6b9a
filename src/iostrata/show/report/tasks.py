"""Tasks of a run: where and when each ran, its phases, and what each layer moved for it."""

from __future__ import annotations

from typing import Any

from iostrata.show.totals import Row
from iostrata.store.opened import OpenedRun

Key = tuple[str, str]


def tasks(opened: OpenedRun, layers: list[Row]) -> list[Row]:
    """One row per job and task in order of start; `layers` are the rows of `Totals.tasks`.

    Each: job, task, role, host, start, end (ns since the epoch, of its process; null when it was
    not traced), exit, time (ns of all its threads in calls), phases (phase, start, end, time) and
    layers (of `layers`, without job and task). A task's layers hold what DataNodes did for it, too.
    """
    found: dict[Key, Row] = {}
    for row in layers:
        task = found.setdefault(_key(row), _new(row))
        task["time"] += row["time"]
        task["layers"].append({k: v for k, v in row.items() if k not in ("job", "task")})
    for row in opened.rows(_PROCESSES):
        task = found.setdefault(_key(row), _new(row))
        task |= {k: row[k] for k in ("role", "host", "start", "end", "exit")}
    for row in opened.rows(_PHASES):
        if _key(row) in found:
            phase = {k: row[k] for k in ("phase", "start", "end", "time")}
            found[_key(row)]["phases"].append(phase)
    return sorted(found.values(), key=lambda task: (task["start"] or 0, task["job"], task["task"]))


def _key(row: Row) -> Key:
    return row["job"] or "", row["task"] or ""


def _new(row: Row) -> dict[str, Any]:
    job, task = _key(row)
    empty = dict.fromkeys(("role", "host", "start", "end", "exit"))
    return {"job": job, "task": task, **empty, "time": 0, "phases": [], "layers": []}


# A process that was not traced has no times of its own; several of one task are one bar.
_PROCESSES = """
    SELECT job, task, min(role) AS role, min(host) AS host, min(start) AS start,
        max("end") AS "end", max("exit") AS "exit"
    FROM processes WHERE coalesce(task, '') <> '' GROUP BY job, task"""
# A call kept one by one begins exactly; sums begin when they were last looked at, so only where
# there are no calls the end of the first sum stands for the begin of the phase.
_PHASES = """
    SELECT e.job, e.task, e.phase,
        coalesce(min(e.start) FILTER (kind = 'call'), min(e.start + e.dur)) AS start,
        max(e.start + e.dur) AS "end",
        coalesce(sum(e.dur) FILTER (kind = 'call' AND (flags & 1) = 0), 0)::BIGINT AS time
    FROM events e SEMI JOIN processes p ON e.proc = p.proc AND e.task = p.task
    WHERE kind IN ('call', 'sum') AND coalesce(e.phase, '') <> ''
    GROUP BY ALL ORDER BY start, phase"""
