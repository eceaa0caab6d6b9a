"""Documents to look at: a recorded run explained, and one that is full of everything hostile.

What `explained_example` adds is made up from the run's own times and bytes, for tests only: no rule
found it.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec

from iostrata.analyse.axis import MOST_BINS
from iostrata.analyse.calltree.tests.made import node
from iostrata.analyse.calltree.trees import CallNode
from iostrata.records import builtins
from iostrata.replay.choices import MOST_PARTS
from iostrata.show.pipelines import MOST
from iostrata.show.report import bounds
from iostrata.show.report.model import ReportDocument

Row = dict[str, Any]

SECOND = 10**9
# A TeraSort of 200 MB, of before there were findings; the example of today is another one.
RECORDED = Path(__file__).with_name("terasort.json.gz")
MARKUP = (
    '</script><img src=x onerror="window.hit=1"><script>window.hit=2</script>&lt;\'\u202e\n\x1b[2J'
)
# Longer than paths usually are, but of letters that cost one byte each.
LONG = (
    "/warehouse/sales.db/orders/region=europe-west/day=2026-11-22/part-00000-5f1c9a.snappy.parquet"
)
# As long as a path may be, and as dear as text can be in JSON.
HOSTILE = (MARKUP + "<é😀" * 3000)[:8000]


def explained_example() -> ReportDocument:
    """The recorded TeraSort with a verdict, findings, a call tree and a critical path."""
    return msgspec.convert(_explained(), ReportDocument)


def _explained() -> Row:
    made: Row = json.loads(gzip.decompress(RECORDED.read_bytes()))
    tasks = [row for row in made["tasks"]["rows"] if row["start"] and row["task"]]
    return made | {
        "verdict": {
            "text": "Map tasks spend their time on writes of 25 bytes, not on the disks.",
            "detail": "The critical path of 96.34 s worked for 71 s, most of it in fs.write of map "
            "tasks; the disks were busy for 9 % of the run.",
        },
        "findings": _findings(made),
        "tree": builtins(_tree(made)),
        "critical": _critical(tasks),
    }


def _findings(made: Row) -> list[Row]:
    writes = next(r for r in made["ops"] if (r["layer"], r["op"]) == ("fs", "write"))
    spills = [r for r in made["ops"] if r["op"] == "spill"]
    each = writes["bytes"] // writes["calls"]
    return [
        finding(
            "small_writes",
            "severe",
            f"{writes['calls']:,} writes of {each} bytes each take 109.29 s".replace(",", " "),
            evidence=[
                {"what": "writes", "value": writes["calls"], "unit": "count"},
                {"what": "bytes written", "value": writes["bytes"], "unit": "bytes"},
                {"what": "time in them, all threads", "value": writes["time"], "unit": "ns"},
                {"what": "share of the time of map tasks", "value": 0.31, "unit": "share"},
                {"what": "most frequent writer", "value": "RawLocalFileSystem", "unit": "text"},
            ],
            change=[setting("io.file.buffer.size", "4096", "131072")],
            gain={"low": 0.12, "high": 0.25, "of": "time of the run"},
        ),
        finding(
            "spills",
            "warning",
            f"{sum(r['calls'] for r in spills)} spills write each record 2.1 times",
            change=[
                setting("mapreduce.task.io.sort.mb", "100", "256"),
                setting("mapreduce.map.sort.spill.percent", "0.80", "0.90"),
            ],
            gain={"low": 0.05, "high": 0.05, "of": "time of the run"},
        ),
        finding(
            "uncompressed_intermediate",
            "note",
            "198.4 MiB of map output cross the network uncompressed",
            change=[setting("mapreduce.map.output.compress", "false", "true")],
        ),
    ]


def finding(rule: str, severity: str, title: str, **more: Any) -> Row:
    """A finding without gain, evidence and change but those in `more`."""
    given: Row = {"rule": rule, "severity": severity, "title": title}
    given["seen"] = "Between 10 s and 30 s, and from 46 s to the end, on all hosts."
    given["query"] = "SELECT layer, op, sum(count) AS calls\nFROM sums\nGROUP BY ALL"
    given["why"] = "Every call costs some 3 µs whatever it moves: most of the time is not I/O."
    given["unless"] = "The file is synced after every record on purpose."
    return {
        **given,
        "share": 0.2,
        "because": [],
        "evidence": [],
        "change": [],
        "gain": None,
        **more,
    }


def setting(name: str, before: str, after: str) -> Row:
    return {"what": "set", "setting": name, "before": before, "after": after}


def _tree(made: Row) -> list[CallNode]:
    ops: dict[tuple[str, str], Row] = {}
    for row in made["ops"]:
        ops.setdefault((row["layer"], row["op"]), row)

    def op(name: str, layer: str, of: str, *below: CallNode, share: float = 1.0) -> CallNode:
        row = ops[layer, of]
        own = max(0, int(row["time"] * share) - sum(child.scaled for child in below))
        moved = {"calls": max(1, int(row["calls"] * share)), "bytes": int(row["bytes"] * share)}
        return node(layer, name, *below, own=own, **moved)

    package = "org.apache.hadoop"
    disk = op(f"{package}.hdfs.server.datanode.FileIoProvider.write", "java", "write")
    receive = op(f"{package}.hdfs.server.datanode.BlockReceiver.receivePacket", "datanode",
                 "receive_packet", disk)  # fmt: skip
    block = op(f"{package}.hdfs.server.datanode.DataXceiver.writeBlock", "datanode", "write_block",
               receive)  # fmt: skip
    stream = op(f"{package}.hdfs.DataStreamer.run", "hdfs", "stream", block)
    maps = node(
        "task", f"{package}.mapred.MapTask.run",
        op(f"{package}.mapred.MapTask.NewTrackingRecordReader.nextKeyValue", "record", "read",
           op(f"{package}.hdfs.DFSInputStream.read", "hdfs", "read")),
        op(f"{package}.mapred.IFile.Writer.append", "record", "append",
           op(f"{package}.fs.FSDataOutputStream.write", "fs", "write", share=0.3)),
        op(f"{package}.mapred.MapTask.MapOutputBuffer.sortAndSpill", "task", "spill"),
        calls=4, own=9 * SECOND, errors=2,
    )  # fmt: skip
    # Five threads fetch at the same time: below the shuffle is more time than in it.
    fetch = f"{package}.mapreduce.task.reduce.Fetcher.copyFromHost"
    fetches = node("task", fetch, calls=80, own=50 * SECOND)
    shuffle = op(f"{package}.mapreduce.task.reduce.Shuffle.run", "task", "shuffle")
    shuffle = msgspec.structs.replace(shuffle, self=SECOND, below=[fetches])
    reduces = node(
        "task", f"{package}.mapred.ReduceTask.run", stream,
        shuffle,
        calls=2, own=3 * SECOND,
    )  # fmt: skip
    call = op(f"{package}.ipc.Client.call", "rpc", "call", share=0.6)
    return [maps, reduces, node("task", f"{package}.util.RunJar.main", call, own=SECOND)]


def _critical(tasks: list[Row]) -> Row:
    parts: list[Row] = []
    for task in sorted(tasks, key=lambda row: row["start"]):
        begin = max(task["start"], parts[-1]["end"] if parts else 0)
        for phase in task["phases"]:
            start, end = max(begin, phase["start"]), phase["end"]
            if start < end:
                waits = phase["phase"] == "shuffle"
                parts.append(part(phase["phase"], task, start, end, waits))
                begin = end
    sums: dict[tuple[str, str], Row] = {}
    for row in parts:
        key = (row["layer"], row["op"])
        empty = dict(zip(("layer", "op"), key, strict=True)) | {
            "working": 0,
            "waiting": 0,
            "idle": 0,
        }
        sums.setdefault(key, empty)
        sums[key]["waiting" if row["waiting"] else "working"] += row["end"] - row["start"]
    wall = sum(row["end"] - row["start"] for row in parts)
    functions = sorted(sums.values(), key=lambda row: -row["working"] - row["waiting"])
    stages = [
        {
            "job": "job_1",
            "stage": "map",
            "tasks": 3,
            "time": 3 * wall // 4,
            "waiting": 0,
            "idle": 0,
        },
        {"job": "job_1", "stage": "reduce", "tasks": 1, "time": wall // 4, "waiting": 9, "idle": 0},
    ]
    return {
        "wall": wall,
        "parts": parts,
        "more": 0,
        "by_function": functions,
        "by_stage": stages,
    }


PHASES = {"map": ("record", "read"), "sort": ("task", "spill"), "shuffle": ("task", "shuffle")}


def part(phase: str, task: Row, start: int, end: int, waits: bool) -> Row:
    layer, op = PHASES.get(phase, ("hdfs", "stream"))
    where = {"role": task["role"], "host": task["host"]}
    times = {"start": start, "end": end, "waiting": waits}
    return {"layer": layer, "op": op, **where, **times}


def full(name: str = HOSTILE) -> ReportDocument:
    """A document with the most rows of everything, every name of them as given, made to fit."""
    made = _widened(_explained(), name)
    most_of = {"targets": bounds.MOST_TARGETS, "tasks": bounds.MOST_TASKS}
    for key in ("targets", "tasks", "categories", "time_spent"):
        most = most_of.get(key, bounds.MOST_ROWS)
        made[key] = {"rows": _filled(made[key]["rows"], most, name), "more": 1_000_000}
    lines = [f"{i} {name}" for i in range(bounds.MOST_PROCESSES)]
    found = made["completeness"]
    processes = _filled(found["processes"]["rows"], bounds.MOST_PROCESSES, name)
    found |= {"lines": lines, "more_lines": 7, "faulted_points": lines, "traced": 1}
    found["processes"] = {"rows": [{**row, "dropped": 1} for row in processes], "more": 7}
    made["findings"] = _filled(made["findings"], bounds.MOST_FINDINGS, name)
    most_of = dict.fromkeys(("by_function", "by_stage"), bounds.MOST_FUNCTIONS)
    for key, most in {"parts": bounds.MOST_PARTS, **most_of}.items():
        made["critical"][key] = _filled(made["critical"][key], most, name)
    made["ops"] = _filled(made["ops"], bounds.MOST_ROWS, name)
    made["tree"] = builtins([_branches(2 * bounds.MOST_NODES, name)])
    made["verdict"] = {"text": name, "detail": name}
    made["what_if"] = what_if(MOST_PARTS, name)
    made["lost_datanodes"] = [f"{i} {name}" for i in range(MOST + 1)]
    made["run"] |= {"command": name, "message": name, "user": name, "host": name}
    return bounds.fitted(msgspec.convert(made, ReportDocument))


def what_if(parts: int, name: str) -> Row:
    """Changes of disks and containers of a run of 40 s, which has parts of such names."""
    label = {"assumes": name, "label": "Speed of disks"}
    disks = {"name": "disks", "values": ["0.5x", "1x", "2x"], "recorded": 1, **label}
    containers = {**disks, "name": "containers", "label": "Attempts at once", "values": ["4", "8"]}
    seconds = [72, 60, 50, 40, 30, 20]  # as recorded: 1x and 8
    choices = [
        {
            "predicted": time * SECOND,
            "low": time * SECOND,
            "high": time * SECOND + (time != 40) * SECOND,
            "path": [time * SECOND // parts] * parts,
            "roles": [time * SECOND // 4],
        }
        for time in seconds
    ]
    return {
        "missing": "",
        "recorded": 40 * SECOND,
        "replayed": 41 * SECOND,
        "kept": 0.1,
        "dimensions": [disks, containers],
        "parts": [f"{i} {name}" for i in range(parts)],
        "roles": ["map"],
        "choices": choices,
    }


def _widened(made: Row, name: str) -> Row:
    """Its axis with the most bins, hosts as many as are shown."""
    made["axis"]["bins"] = MOST_BINS
    for layer in made["series"]:
        layer |= {k: (v * 3)[:MOST_BINS] for k, v in layer.items() if k != "layer"}
    [host] = made["system"]["hosts"]
    values = {key: list(range(10**9, 10**9 + MOST_BINS)) for key in host["values"]}
    many = [{**host, "host": f"{i} {name}", "values": values} for i in range(bounds.MOST_HOSTS)]
    made["system"] |= {"hosts": many, "more": 1000}
    made["usage"] = {
        "missing": "",
        "jobs": {"rows": _curves(bounds.MOST_JOBS, name, None), "more": 7},
        "attempts": {"rows": _curves(bounds.MOST_ATTEMPTS, name, name), "more": 7},
        "space": {"rows": _spaces(bounds.MOST_JOBS, name), "more": 7},
    }
    return made


def _curves(count: int, job: str, task: str | None) -> list[Row]:
    moved = ("io_read", "io_written", "disk_read", "disk_written")
    values = {name: list(range(10**9, 10**9 + MOST_BINS)) for name in moved}
    curve = {"task": task, "role": None, "first": 0, "cpu": [12.345] * MOST_BINS, **values}
    return [{"job": f"{i} {job}", **curve} for i in range(count)]


def _spaces(count: int, job: str) -> list[Row]:
    values = list(range(10**12, 10**12 + MOST_BINS))
    curve = {"role": None, "first": 0, "temporary": values, "permanent": values}
    return [{"job": f"{i} {job}", **curve} for i in range(count)]


def _filled(rows: list[Row], most: int, name: str) -> list[Row]:
    """So many rows, made of those there are, with the name in place of their text."""
    kept = ("layer", "severity", "unit", "op")
    made = []
    for i in range(most):
        row = dict(rows[i % len(rows)])
        for key, value in row.items():
            if isinstance(value, str) and key not in kept:
                row[key] = f"{i} {name}"
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                row[key] = _filled(value, 11 if key == "layers" else 40, name)
        made.append(row)
    return made


def _branches(nodes: int, name: str) -> CallNode:
    """A tree of so many nodes: long chains that each have 40 functions beside."""
    made = node("fs", name, own=SECOND)
    for depth in range(nodes // 41):
        beside = (node("java", f"{depth} {i} {name}", own=i) for i in range(40))
        made = node("hdfs", f"{depth} {name}", made, *beside, own=1)
    return made
