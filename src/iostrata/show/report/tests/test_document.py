from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from iostrata.analyse.summary import summary
from iostrata.records import builtins
from iostrata.schema.directions import DIRECTIONS
from iostrata.schema.events import FLAG, SYSTEM_COLUMNS
from iostrata.show.report import bounds
from iostrata.show.report.document import document
from iostrata.show.summary import summary_lines
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import (
    START,
    make_run,
    process,
    row_of_call,
    row_of_sum,
    usage,
    write,
)

SECOND = 10**9
MS = 10**6
MAP = {"job": "job_1_0001", "task": "attempt_1_0001_m_000000_0"}
CALLED = START + 400 * MS
KNOWN = {"proc": 5, **MAP}


def read(store: Path, name: str = "r") -> dict[str, Any]:
    with OpenedRun(find_run(store, name)) as opened:
        made: dict[str, Any] = builtins(document(opened))
        return made


def grown(begin: int, until: int, **more: Any) -> dict[str, Any]:
    """A sum that grew between two times, ns since the start of the run."""
    return {"start": START + begin, "dur": until - begin, **more}


def test_bins_share_out_whole_bytes_and_add_up(tmp_path: Path) -> None:
    # GIVEN a run of 3 s in bins of 0.5 s, and a counter that grew from 0.25 s to 1.25 s
    read_ = row_of_sum("hdfs", "read", bytes=101, count=3, **grown(250 * MS, 1250 * MS))
    make_run(tmp_path, "r", [read_], [process("map", 1)])
    # WHEN
    found = read(tmp_path)
    # THEN a quarter, a half and a quarter of it, in whole bytes and calls
    assert found["axis"] == {"start": START, "bin": SECOND // 2, "bins": 7}
    assert found["series"] == [
        {"layer": "hdfs", "calls": [0, 2, 1, 0, 0, 0, 0], "bytes_read": [25, 50, 26, 0, 0, 0, 0]}
    ]


def test_a_counter_that_was_idle_grew_within_the_last_second(tmp_path: Path) -> None:
    # GIVEN one that was seen after 2.5 s and had not grown since the start
    late = row_of_sum("hdfs", "read", bytes=100, count=1, **grown(0, 2500 * MS))
    # and one whose end lies before the run, on a clock of its own
    early = row_of_sum("rpc", "call", count=7, **grown(-90 * SECOND, -80 * SECOND))
    make_run(tmp_path, "r", [late, early], [process("map", 1)])
    found = {row["layer"]: row for row in read(tmp_path)["series"]}
    # THEN
    assert found["hdfs"]["bytes_read"] == [0, 0, 0, 50, 50, 0, 0]
    assert found["rpc"]["calls"] == [7, 0, 0, 0, 0, 0, 0]


def test_series_of_every_layer_add_up_to_its_totals(tmp_path: Path) -> None:
    # GIVEN 400 counters of five layers and uneven times, nested and covered ones too
    events = [
        row_of_sum(
            ("fs", "hdfs", "rpc", "datanode", "java")[i % 5],
            ("read", "write", "send_packet", "receive_packet", "open", "transfer")[i % 6],
            bytes=i * 1237 % 100_003,
            count=i % 17 + 1,
            flags=(0, 0, FLAG["inner"], FLAG["inner"] | FLAG["double_counted"])[i % 4],
            **grown(i * 37 * MS, i * 37 * MS + i * i * 8111),
        )
        for i in range(400)
    ]
    make_run(tmp_path, "r", events, [process("map", 1)], end=START + 900 * SECOND)
    # WHEN
    found = read(tmp_path)
    # THEN
    assert found["axis"]["bins"] <= 240
    for layer, series in zip(found["layers"], found["series"], strict=True):
        sums = {name: sum(values) for name, values in series.items() if name != "layer"}
        assert sums.pop("calls") == layer["calls"]
        ways = {f"bytes_{way}" for way in DIRECTIONS}
        assert sums == {way: layer[way] for way in ways if layer[way]}
        assert all(min(values) >= 0 for name, values in series.items() if name != "layer")


def test_the_way_of_the_bytes(tmp_path: Path) -> None:
    # GIVEN 100 bytes written to HDFS with two replicas, and 30 bytes of a local file
    events = [
        row_of_sum("fs", "write", bytes=100, category="hdfs", role="map"),
        row_of_sum("fs", "write", bytes=30, category="file", role="map"),
        row_of_sum("datanode", "receive_packet", bytes=200, role="DataNode"),
        row_of_sum("datanode", "write", bytes=200, role="DataNode"),
        row_of_sum("java", "write", bytes=200, category="blk", role="DataNode"),
        row_of_sum("java", "write", bytes=14, category="blk_meta", role="DataNode"),
        row_of_sum("java", "write", bytes=30, category="file", role="map"),
    ]
    make_run(tmp_path, "r", events, [process("map", 1)])
    # THEN packets that no point counted are unknown, not 0; nothing was read from HDFS
    found = read(tmp_path)
    assert [row["direction"] for row in found["flow"]] == ["written to HDFS"]
    steps = found["flow"][0]["steps"]
    assert [(row["title"], row["bytes"], row["factor"]) for row in steps] == [
        ("written by applications", 100, 1.0),
        ("sent by HDFS clients", None, None),
        ("received by DataNodes, all replicas", 200, 2.0),
        ("written by DataNodes", 200, 2.0),
        ("to their disks, blocks", 200, 2.0),
        ("to their disks, checksums", 14, 0.14),
    ]
    assert [(r["layer"], r["category"], r["role"]) for r in found["categories"]["rows"][:2]] == [
        ("datanode", "", "DataNode"),
        ("java", "blk", "DataNode"),
    ]


def test_tasks_have_phases_and_bytes_of_all_layers(tmp_path: Path) -> None:
    # GIVEN a map task with calls in two phases, and the DataNode's bytes for it
    events = [
        row_of_sum("hdfs", "read", bytes=50, **KNOWN, **grown(0, SECOND), phase="MAP"),
        row_of_call("hdfs", "read", "/in", **KNOWN, phase="MAP", dur=3 * MS, start=CALLED,
                    host="node"),
        row_of_sum("java", "write", bytes=9, **KNOWN, **grown(0, 2 * SECOND), phase="SORT"),
        row_of_sum("datanode", "send_packet", bytes=50, proc=6, phase="MAP", **MAP),
        row_of_sum("rpc", "call", proc=7, job="job_1_0001"),
    ]  # fmt: skip
    lived = {"start": START + 100 * MS, "end": START + 2 * SECOND, "host": "node"}
    make_run(tmp_path, "r", events, [process("map", 1, **KNOWN, **lived), process("DataNode", 2)])
    # WHEN
    job, task = sorted(read(tmp_path)["tasks"]["rows"], key=lambda row: str(row["task"]))
    # THEN the job is what its client and ApplicationMaster did
    assert (job["job"], job["task"], job["start"], job["phases"]) == ("job_1_0001", "", None, [])
    assert (task["role"], task["host"], task["exit"]) == ("map", "node", "ended")
    assert (task["start"], task["end"]) == (lived["start"], lived["end"])
    # of the job's own process no call was recorded individually
    assert (task["in_io"], job.get("in_io")) == (3 * MS, None)
    # a phase begins with a call where there is one, else when its first counter was seen
    assert task["phases"] == [
        {"phase": "MAP", "start": CALLED, "end": START + SECOND, "time": 3 * MS},
        {"phase": "SORT", "start": START + 2 * SECOND, "end": START + 2 * SECOND, "time": 0},
    ]
    moved = {row["layer"]: (row["bytes_read"], row["bytes_sent"]) for row in task["layers"]}
    assert moved == {"hdfs": (50, 0), "java": (0, 0), "datanode": (0, 50)}


def test_numbers_are_those_of_the_summary(tmp_path: Path) -> None:
    # GIVEN a run with sampled clocks, drops and a process that was not traced
    events = [
        row_of_sum("fs", "write", bytes=70, count=100, timed=2, timed_dur=20, role="map"),
        row_of_sum("hdfs", "read", bytes=7, size_class=3, role="map"),
        row_of_call("hdfs", "read", "/in", bytes=7, block=2**62),
    ]
    processes = [process("map", 1, dropped=3), process("map", 2, traced=False, reason="no agent")]
    make_run(tmp_path, "r", events, processes)
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        found, whole = builtins(document(opened)), summary(opened)
    # THEN
    lines, summed = summary_lines(whole), builtins(whole)
    assert found["completeness"]["lines"] == lines[:2]
    assert lines[0] == (
        "traced 1/2 processes, DataNodes not asked, 3 dropped "
        "(in totals, not recorded individually)"
    )
    assert (found["layers"], found["ops"]) == (summed["layers"], summed["ops"])
    names = found["size_classes"]
    sizes = [dict(zip(names, row.pop("calls"), strict=True)) | row for row in found["sizes"]]
    assert sizes == summed["sizes"]
    targets = found["targets"]["rows"]
    assert [row | {"block": int(row["block"])} for row in targets] == summed["targets"]
    assert [(row["op"], row["time"], row["estimated"]) for row in found["time_spent"]["rows"]] == [
        ("write", 1000, True),
        ("read", 1000, False),
    ]


def test_runs_without_events_say_why(tmp_path: Path) -> None:
    make_run(tmp_path, "r", start=0, end=0)
    found = read(tmp_path)
    assert found["empty"] == "no events: no Java process was seen, nor another one by --native"
    assert (found["axis"]["bins"], found["series"]) == (1, [])


def sample(second: int, **more: Any) -> dict[str, Any]:
    """Two cores in that second, from the first: half of it user, a quarter waiting for disks."""
    given = {
        "host": "node", "time": START + (second - 1) * SECOND, "interval": SECOND,
        "cpu_user": SECOND, "cpu_system": 0, "cpu_iowait": SECOND // 2, "cpu_idle": SECOND // 2,
        "cores": 2, "mem_used": 10, "mem_total": 100, "disk_read": 4096, "disk_written": 0,
        "disk_busy": SECOND // 4, "net_received": 1, "net_sent": 2, "net_loopback": 3,
        "space_used": 50 + second, "space_total": 1000, "memory_pressure": SECOND // 10,
    }  # fmt: skip
    return {**given, **more}


def test_histories_of_hosts_are_shares_and_rates(tmp_path: Path) -> None:
    # GIVEN a run of 3 s in bins of 0.5 s, with samples of the first and the third second
    path = make_run(tmp_path, "r", [row_of_sum("fs", "write", **grown(0, SECOND))], [])
    rows = [sample(1), sample(3), sample(99)]
    write(path / "system/host=node/part-000001.parquet", rows, SYSTEM_COLUMNS)
    # THEN a sample stands in the bin of its middle, one outside the run nowhere
    found = read(tmp_path)["system"]
    assert (found["missing"], found["more"], len(found["hosts"])) == ("", 0, 1)
    host = found["hosts"][0]
    assert host["totals"] == {"mem_total": 100, "space_total": 1000}
    assert host["values"]["cpu_user"] == [None, 0.5, None, None, None, 0.5, None]
    assert {name: values[1] for name, values in host["values"].items()} == {
        "cpu_user": 0.5, "cpu_system": 0.0, "cpu_iowait": 0.25, "disk_busy": 0.25,
        "cpu_pressure": None, "memory_pressure": 0.1, "io_pressure": None,
        "disk_read": 4096, "disk_written": 0, "net_received": 1, "net_sent": 2,
        "net_loopback": 3, "mem_used": 10, "space_used": 51,
    }  # fmt: skip


def test_runs_without_samples_of_hosts_say_so(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [row_of_sum("fs", "write")], [])
    assert read(tmp_path)["system"]["missing"] == "hosts were not sampled in this run"


def test_curves_of_jobs_and_attempts_are_cores_and_rates(tmp_path: Path) -> None:
    # GIVEN a run of 3 s in bins of 0.5 s, and a map that took the second second
    known = [process("map", 1, proc=5, **MAP), process("client", 2, proc=6)]
    taken = [
        usage(5, 1, cpu=SECOND // 2, io_read=4096, disk_written=100),
        usage(5, 99, cpu=SECOND),
        usage(6, 0, cpu=SECOND, io_read=None, io_written=None, disk_read=None, disk_written=None),
    ]
    make_run(tmp_path, "r", [row_of_sum("fs", "write", **grown(0, SECOND))], known, usages=taken)
    # THEN the one that took most is first; what lies outside the run stands nowhere
    found = read(tmp_path)["usage"]
    job = {
        "job": MAP["job"], "task": None, "role": None, "first": 2, "cpu": [0.5, 0.5, 0.0],
        "io_read": [4096, 4096, 0], "io_written": [0, 0, 0], "disk_read": [0, 0, 0],
        "disk_written": [100, 100, 0],
    }  # fmt: skip
    none = [None, None, None]
    client = {
        "job": None, "task": None, "role": "client", "first": 0, "cpu": [1.0, 1.0, 0.0],
        "io_read": none, "io_written": none, "disk_read": none, "disk_written": none,
    }  # fmt: skip
    assert found == {
        "missing": "",
        "jobs": {"rows": [client, job], "more": 0},
        "attempts": {"rows": [job | {"task": MAP["task"], "role": "map"}], "more": 0},
        "space": {"rows": [], "more": 0},
    }


def test_curves_of_space_go_on_to_the_end_of_the_axis(tmp_path: Path) -> None:
    # GIVEN a run of 3 s in bins of 0.5 s, a spill of its first second and an output of its second
    of_map = {"proc": 5, "role": "map", **MAP}
    rows = [
        row_of_sum("java", "write", bytes=100, category="spill", **of_map, **grown(0, SECOND)),
        row_of_sum("fs", "write", bytes=60, category="hdfs", **of_map, **grown(SECOND, SECOND * 2)),
    ]
    known = [process("map", 1, proc=5, end=START + 2 * SECOND, **MAP)]
    make_run(tmp_path, "r", rows, known)
    # THEN the spill goes with the job, and the output stays
    assert read(tmp_path)["usage"]["space"]["rows"] == [
        {
            "job": MAP["job"], "role": None, "first": 0,
            "temporary": [50, 100, 100, 0, 0, 0, 0], "permanent": [0, 0, 30, 60, 60, 60, 60],
        }
    ]  # fmt: skip


def test_an_older_run_says_that_it_has_no_curves(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [row_of_sum("fs", "write")], [])
    found = read(tmp_path)["usage"]
    assert found["missing"] == "what processes took over time was not recorded in this run"
    assert found["jobs"] == found["attempts"] == {"rows": [], "more": 0}


def test_a_large_run_makes_a_small_document(tmp_path: Path) -> None:
    # GIVEN more of everything than is shown: tasks, targets with long names, processes, losses
    count, many = 3000, []
    processes = []
    for i in range(count):
        task = {"job": "job_1_0001", "task": f"attempt_1_0001_m_{i:06}_0"}
        many += [row_of_sum(layer, "read", bytes=i, **task) for layer in ("fs", "hdfs", "java")]
        many.append(row_of_call("hdfs", "read", f"/{'<é' * 4000}/{i}", dur=i))
        why = {"traced": True} if i % 2 == 0 else {"traced": False, "reason": "no agent"}
        processes.append(process("map", i, **task, **why, dropped=1))
    make_run(tmp_path, "r", many, processes, command=["java", "x" * 1_000_000])
    # THEN what is left out is counted
    found = read(tmp_path)
    assert (len(found["tasks"]["rows"]), found["tasks"]["more"]) == (bounds.MOST_TASKS, 2400)
    assert (len(found["targets"]["rows"]), found["targets"]["more"]) == (bounds.MOST_TARGETS, 1)
    assert found["completeness"]["more_lines"] == 1502 - bounds.MOST_PROCESSES
    assert (found["completeness"]["traced"], found["completeness"]["total"]) == (1500, count)
    assert len(json.dumps(found)) < 2_000_000
