"""A run of a client and a DataNode, small enough to be read, and its exports."""

from __future__ import annotations

import io
import random
import socket
from pathlib import Path
from typing import Any

from iostrata.schema.events import FLAG
from iostrata.show.export.formats import FORMATS
from iostrata.show.export.selection import Selection
from iostrata.show.export.source import Source
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import (
    SECOND,
    START,
    make_run,
    process,
    row_of_call,
    row_of_sum,
    sample,
    usage,
)

Row = dict[str, Any]
MS = 1_000_000
TASK = "attempt_1_0001_m_000000_0"
CLIENT: Row = {"host": "node1", "proc": 1, "role": "map", "pid": 100, "tid": 1, "thread": "main"}
CLIENT |= {"job": "job_1_0001", "task": TASK, "phase": "map", "trace": 1}
DATANODE: Row = {"host": "node2", "proc": 2, "role": "DataNode", "pid": 100, "tid": 7, "trace": 1}
DATANODE |= {"thread": "DataXceiver", "job": "job_1_0001", "task": None, "phase": None}
# What every text of a run may hold.
HOSTILE = 'a "quoted", <b>\\path</b>\n\x1b[31m\tä\U0001f4a5\x00'


def free_port() -> int:
    """On loopback, of those that Linux gives to no outgoing connection by itself."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


def call(name: str, span: int, start: float, dur: float, **more: Any) -> Row:
    """A call with `start` and `dur` in ms."""
    layer, op = name.split(".")
    when = {"start": START + round(start * MS), "dur": round(dur * MS)}
    return row_of_call(layer, op, **{"target": "/a", **CLIENT, "span": span, **when, **more})


def events() -> list[Row]:
    """A write of 100 ms that a DataNode serves; a read, of which 9 others were only summed."""
    link = {"kind": "link", "layer": "datanode", "op": "receive_block", "point": 5}
    link |= {"parent": 2, "parent_proc": 1, "start": START + 16 * MS, "dur": 4 * MS}
    return [
        call("fs.write", 1, 0, 100, bytes=4096),
        call("hdfs.write", 2, 10, 80, bytes=4096, parent=1),
        call("java.send", 3, 15, 5, bytes=4200, parent=2, category="socket", target="node2:9866"),
        call(
            "datanode.receive_block",
            *(1, 20, 50),
            **{**DATANODE, "parent": 2, "parent_proc": 1, "point": 5, "bytes": 4096, "block": 77},
        ),
        call(
            "java.write",
            *(2, 30, 10),
            **{**DATANODE, "parent": 1, "bytes": 4096, "target": "/data/blk_77"},
        ),
        {**DATANODE, **link},
        call("java.read", 5, 110, 1, bytes=10, asked=4096, offset=20, flags=FLAG["inner"]),
        call("java.open", 6, 120, 1, error="java.io.FileNotFoundException", target="/none"),
        call("java.read", 7, 130, 20, kind="unfinished", bytes=None),
        call("jvm.gc_pause", 9, 40, 5, tid=8388607, thread=None, target=None, trace=None),
        row_of_sum("java", "read", count=10, bytes=1000, job="job_1_0001", task=TASK),
        row_of_sum("java", "write", bytes=4096, job="job_1_0001"),
        row_of_sum("java", "send", bytes=4200, job="job_1_0001", task=TASK),
        row_of_sum("java", "open", job="job_1_0001", task=TASK),
        row_of_sum("fs", "write", bytes=4096, job="job_1_0001", task=TASK),
        row_of_sum("hdfs", "write", bytes=4096, job="job_1_0001", task=TASK),
        row_of_sum("datanode", "receive_block", bytes=4096, job="job_1_0001"),
    ]


# Calls of `events`: those of threads, without the pause.
CALLS = 8


def make(store: Path, rows: list[Row] | None = None) -> None:
    """Makes the run `r` of `events`, or of other rows."""
    hosts = [
        sample(0, host="node1", cpu_user=SECOND, cpu_idle=SECOND, disk_read=512, mem_used=1000),
        sample(1, host="node1", mem_used=2000),
    ]
    known = [process("map", 100, host="node1", proc=1, main="YarnChild", job="job_1_0001")]
    known += [process("DataNode", 100, host="node2", proc=2, main="DataNode")]
    taken = [usage(1, second, cpu=SECOND // 2, io_read=4096) for second in range(3)]
    make_run(store, "r", events() if rows is None else rows, known, hosts, usages=taken)


def export(store: Path, name: str, **chosen: Any) -> tuple[int, bytes]:
    """How many calls the format says that it wrote of the run `r`, and what it wrote."""
    out = io.BytesIO()
    with OpenedRun(find_run(store, "r")) as opened:
        known = FORMATS[name]
        source = Source(opened, Selection(**chosen), known.pauses)
        written = known.writer()(source, out)
        assert written == source.count
    return written, out.getvalue()
