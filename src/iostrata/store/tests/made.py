"""Runs made by hand: real Parquet files with exactly the rows a test states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from iostrata.schema.events import (
    CHILD_COLUMNS,
    COLUMNS,
    DEVICE_COLUMNS,
    PROCESS_COLUMNS,
    SYSTEM_COLUMNS,
    THREAD_COLUMNS,
    USAGE_COLUMNS,
    VERSION,
)
from iostrata.schema.types import TYPES
from iostrata.store.files import VERSION_KEY

Row = dict[str, Any]
SECOND = 10**9
START = 1_700_000_000 * SECOND


def row_of_sum(layer: str, op: str, **more: Any) -> dict[str, Any]:
    """A `sum` row: one timed call of 0 bytes and 1 µs unless `more` says otherwise."""
    count = more.get("count", 1)
    given = {"timed": count, "timed_dur": 1000 * count, "bytes": 0, "errors": 0, "flags": 0}
    return {"kind": "sum", "layer": layer, "op": op, "point": 1, "count": count, **given, **more}


def row_of_call(layer: str, op: str, target: str, **more: Any) -> dict[str, Any]:
    """A `call` row on a target: 0 bytes and 1 µs unless `more` says otherwise."""
    given = {"bytes": 0, "dur": 1000, "flags": 0, "category": "file"}
    return {"kind": "call", "layer": layer, "op": op, "target": target, **given, **more}


def process(role: str, pid: int, **more: Any) -> dict[str, Any]:
    """A row of the processes table: a JVM, traced and without loss unless `more` says otherwise."""
    losses = {"dropped": 0, "folded": 0, "lost": 0, "refused": 0}
    given = {"traced": True, "exit": "ended", "jvm": "17.0.15"}
    return {"role": role, "pid": pid, **given, **losses, **more}


def thread(proc: int, tid: int, name: str, **more: Any) -> dict[str, Any]:
    """A row of the threads table."""
    return {"proc": proc, "tid": tid, "thread": name, "end": START + SECOND, **more}


def child(parent: int, name: str, **more: Any) -> dict[str, Any]:
    """A row of the children table: a second, of which half is CPU, and no bytes."""
    moved = dict.fromkeys(("io_read", "io_written", "disk_read", "disk_written"), 0)
    given = {"pid": 1, "start": START, "end": START + SECOND, "cpu": SECOND // 2, "exit": 0}
    return {"host": "node", "parent": parent, "name": name, **given, **moved, **more}


def usage(proc: int, time: float, **more: Any) -> dict[str, Any]:
    """A second of a process that took nothing but what `more` says; `time` in seconds."""
    moved = dict.fromkeys(("io_read", "io_written", "disk_read", "disk_written"), 0)
    given = {"time": START + round(time * SECOND), "interval": SECOND, "cpu": 0}
    return {"host": "node", "proc": proc, **given, **moved, **more}


def sample(time: int, **more: Any) -> dict[str, Any]:
    """A second of a host of 2 cores that did nothing but what `more` says; `time` in seconds."""
    given = dict.fromkeys((name for name, kind in SYSTEM_COLUMNS.items() if kind == "i64"), 0)
    given |= {"time": START + time * SECOND, "interval": SECOND, "cpu_idle": 2 * SECOND}
    return {"host": "node", "cores": 2, **given, **more}


def device(name: str, time: int, **more: Any) -> dict[str, Any]:
    """A second of a block device that did nothing but what `more` says; `time` in seconds."""
    given = dict.fromkeys((name for name, kind in DEVICE_COLUMNS.items() if kind == "i64"), 0)
    given |= {"time": START + time * SECOND, "interval": SECOND}
    return {"host": "node", "device": name, "mount": "/", **given, **more}


def make_run(
    store: Path,
    name: str,
    events: list[dict[str, Any]] | None = None,
    processes: list[dict[str, Any]] | None = None,
    system: list[dict[str, Any]] | None = None,
    children: list[dict[str, Any]] | None = None,
    threads: list[dict[str, Any]] | None = None,
    usages: list[dict[str, Any]] | None = None,
    devices: list[dict[str, Any]] | None = None,
    level: str = "record",
    sampling: int = 0,
    **facts: Any,
) -> Path:
    """Writes a run as recorder and collector leave it; `facts` go to run.json."""
    run_dir = store / name
    run_dir.mkdir(parents=True)
    given = {
        "schema": VERSION,
        "run": name,
        "command": ["java", "Job"],
        "start": START,
        "end": START + 3 * SECOND,
    }
    given |= {"state": "ok", "exit": 0, "host": "node", "user": "alice"}
    (run_dir / "run.json").write_text(json.dumps({**given, **facts}))
    counted = {
        "state": "done",
        "run": name,
        "events": len(events or []),
        "bytes": 2048,
        "level": level,
        "sampling": sampling,
    }
    (run_dir / "progress.json").write_text(json.dumps(counted))
    if events is not None:
        write(run_dir / "events/host=node/part-000001.parquet", events, COLUMNS)
    if processes is not None:
        write(run_dir / "processes/host=node.parquet", processes, PROCESS_COLUMNS)
    if children is not None:
        write(run_dir / "children/host=node.parquet", children, CHILD_COLUMNS)
    if threads is not None:
        write(run_dir / "threads/host=node.parquet", threads, THREAD_COLUMNS)
    if usages is not None:
        write(run_dir / "usage/host=node/part-000001.parquet", usages, USAGE_COLUMNS)
    if devices is not None:
        write(run_dir / "devices/host=node/part-000001.parquet", devices, DEVICE_COLUMNS)
    if system is not None:
        write(run_dir / "system/host=node/part-000001.parquet", system, SYSTEM_COLUMNS)
    return run_dir


def write(path: Path, rows: list[dict[str, Any]], columns: dict[str, str]) -> None:
    """One Parquet file with the columns of the contract; absent values are null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    version = {VERSION_KEY: str(VERSION)}
    schema = pa.schema(
        [(name, pa.type_for_alias(TYPES[kind].arrow)) for name, kind in columns.items()], version
    )
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
