from __future__ import annotations

from pathlib import Path
from typing import Any

from iostrata.analyse.orphans import Orphans
from iostrata.analyse.summary import Summary, summary
from iostrata.records import builtins
from iostrata.schema.events import FLAG
from iostrata.schema.points import POINTS
from iostrata.show.summary import summary_lines
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import SECOND, make_run, process, row_of_call, row_of_sum, sample

MIB = 1 << 20
MAP = {"job": "job_1_0001", "task": "attempt_1_0001_m_000000_0"}


def read(store: Path, name: str = "r") -> Summary:
    with OpenedRun(find_run(store, name)) as opened:
        return summary(opened)


def lines(store: Path) -> list[str]:
    """The summary without the lines about layers, which change with the points there are."""
    said = summary_lines(read(store))
    return [x for x in said if not x.startswith(("no calls seen:", "only where asked for:"))]


def test_a_whole_summary(tmp_path: Path) -> None:
    # GIVEN a job of one map that read 64 MiB in 16 calls, and its DataNode
    events = [
        row_of_sum("hdfs", "read", count=16, bytes=64 * MIB, size_class=23, point=2,
                   category="hdfs", **MAP),
        row_of_sum("hdfs", "open", timed_dur=2_000_000, point=3, category="hdfs", **MAP),
        row_of_sum("java", "read", count=1000, bytes=8000, timed=10, timed_dur=50_000,
                   size_class=4, point=4),
        row_of_call("hdfs", "read", "/data/in\x1b[2J", bytes=4 * MIB, dur=9000, category="hdfs"),
    ]  # fmt: skip
    events.append(row_of_call("datanode", "write_block", "BP-1", dur=8000, block=77))
    processes = [process("map", 11), process("DataNode", 12, traced=False, reason="no agent")]
    make_run(tmp_path, "r", events, processes, start=0, end=0)
    # THEN
    assert lines(tmp_path) == [
        "traced 1/2 processes, DataNodes not asked, 0 dropped",
        "not traced: DataNode pid 12 (no agent)",
        "job history not asked: attempts on hosts without a collector are not known",
        "run r · ok · exit 0 · on node by alice",
        "command: java Job",
        "5 events, 2.0 KiB",
        "",
        "layer  calls      read  written  time of all threads  errors",
        "hdfs      17  64.0 MiB      0 B               2.0 ms       0",
        "java   1 000   7.8 KiB      0 B              ~5.0 ms       0",
        "",
        "layer  operation  calls     bytes     time",
        "hdfs   open           1       0 B   2.0 ms",
        "hdfs   read          16  64.0 MiB    16 µs",
        "java   read       1 000   7.8 KiB  ~5.0 ms",
        "",
        "calls by size        0   <512  <4K  <64K  <1M  <16M  >=16M",
        "hdfs           read  ·      ·    ·     ·    ·    16      ·",
        "java           read  ·  1 000    ·     ·    ·     ·      ·",
        "",
        "time of a call               calls  mean  median  95 %  99 %",
        "hdfs            read             1  9 µs    9 µs  9 µs  9 µs",
        "datanode        write_block      1  8 µs    8 µs  8 µs  8 µs",
        "",
        "hottest   category  calls     read  written  time  target",
        "hdfs      hdfs          1  4.0 MiB      0 B  9 µs  /data/in\\x1b[2J",
        "datanode  file          1      0 B      0 B  8 µs  blk_77 of BP-1",
        "(no target is known of 16 calls of hdfs on hdfs (60.0 MiB): each may have been on any "
        "target of its kind)",
        "",
        "job or task                layer  calls      read  written    time",
        "attempt_1_0001_m_000000_0  hdfs      17  64.0 MiB      0 B  2.0 ms",
    ]


def test_inner_calls_and_detail_are_no_totals(tmp_path: Path) -> None:
    # GIVEN 10 bytes read, counted by an outer and an inner call, and recorded individually, too
    events = [
        row_of_sum("fs", "read", bytes=10),
        row_of_sum("fs", "read", bytes=10, flags=FLAG["inner"] | FLAG["double_counted"]),
        row_of_call("fs", "read", "/a", bytes=10),
        row_of_call("fs", "read", "/a", bytes=10, flags=FLAG["inner"] | FLAG["double_counted"]),
    ]
    make_run(tmp_path, "r", events, [process("client", 1)])
    # WHEN
    found = builtins(read(tmp_path))
    # THEN
    assert found["layers"] == [
        {
            "layer": "fs", "calls": 1, "bytes_read": 10, "bytes_written": 0,
            "bytes_received": 0, "bytes_sent": 0, "time": 1000, "time_bound": 0,
                "estimated": False, "errors": 0,
        }
    ]  # fmt: skip
    assert [(row["op"], row["nested"], row["bytes"]) for row in found["ops"]] == [
        ("read", False, 10),
        ("read", True, 10),
    ]
    assert [(row["target"], row["calls"], row["bytes_read"]) for row in found["targets"]] == [
        ("/a", 1, 10)
    ]


def test_sampled_time_is_scaled_point_by_point(tmp_path: Path) -> None:
    # GIVEN one point timed always, one timed 1 of 100, one flush of which timed none
    events = [
        row_of_sum("fs", "write", point=1, count=4, timed=4, timed_dur=400),
        row_of_sum("fs", "write", point=2, count=100, timed=2, timed_dur=20),
        row_of_sum("fs", "write", point=2, count=100, timed=0, timed_dur=0),
    ]
    make_run(tmp_path, "r", events, [process("client", 1)])
    # THEN 400 ns and 200 calls of 10 ns
    assert [(row.time, row.estimated) for row in read(tmp_path).layers] == [(2400, True)]


def test_time_of_sampled_clocks_has_a_bound(tmp_path: Path) -> None:
    # GIVEN 1000 calls, of which 10 were timed for 900 of them, and 1 µs of calls inside them
    sampled = {"timed": 10, "weight": 900, "timed_dur": 9000, "spread": 10_000.0, "inside": 1000}
    make_run(
        tmp_path, "r", [row_of_sum("java", "read", count=1000, **sampled)], [process("map", 1)]
    )
    (layer,) = read(tmp_path).layers
    # THEN 10 ns each and those inside; the deviation of 100 ns is scaled up by 1000 / 900, too
    assert (layer.time, layer.estimated) == (11_000, True)
    assert layer.time_bound == round(2.576 * 100 * 1000 / 900)
    assert "~11 µs ±3 %" in "\n".join(lines(tmp_path))


def test_a_level_is_said(tmp_path: Path) -> None:
    rows = [row_of_sum("java", "read"), row_of_sum("task", "run")]
    make_run(tmp_path, "r", rows, [process("map", 1)], level="job")
    said = "properties, xml, classes, jars, thread, config, file, socket"
    assert f"level job: {said} only in sums" in lines(tmp_path)
    records = "records of MapReduce are not counted: --level record was not asked for"
    assert records in lines(tmp_path)
    other = tmp_path / "other"
    make_run(other, "r", rows, [process("map", 1)], level="record")
    assert not any("level" in line for line in lines(other))


def test_losses_stand_in_the_first_line(tmp_path: Path) -> None:
    losses = {"dropped": 1200, "folded": 7, "lost": 1, "refused": 2}
    made: list[dict[str, Any]] = [
        process("map", 1, **losses, points_faulted="a.B#c,d.E#f"),
        process("map", 2, points_faulted="a.B#c"),
    ]
    events = [row_of_sum("fs", "read"), {"kind": "unfinished", "layer": "fs", "op": "read"}]
    make_run(tmp_path, "r", events, made)
    assert lines(tmp_path)[:3] == [
        "traced 2/2 processes, 1 200 dropped (in totals, not recorded individually), "
        "7 without task and category, 1 lost (in no total), 2 segments or names rejected",
        "points switched off by a fault: a.B#c, d.E#f",
        "1 call still open when the process died",
    ]


def test_calls_of_servers_without_a_client_are_counted(tmp_path: Path) -> None:
    # GIVEN a block read for a client, one that nobody known asked for, and a client's own call
    events = [
        row_of_call("datanode", "read_block", "blk", role="DataNode", proc=1, trace=7, bytes=10),
        row_of_call("datanode", "read_block", "blk", role="DataNode", proc=1, trace=1, bytes=20),
        row_of_call("hdfs", "read", "/a", role="client", proc=7, trace=7),
        row_of_sum("datanode", "read_block"),
    ]
    make_run(tmp_path, "r", events, [process("DataNode", 1), process("client", 7)])
    # THEN
    assert read(tmp_path).orphans == [Orphans("datanode", calls=1, bytes=20)]
    assert builtins(read(tmp_path))["orphans"] == [{"layer": "datanode", "calls": 1, "bytes": 20}]
    assert "calls of HDFS servers that no traced client caused: datanode 1" in lines(tmp_path)


def test_processes_without_an_agent_are_named(tmp_path: Path) -> None:
    made = [process("map", 1, agent="tfs 0.1.0"), process("map", 2, agent="0.1.0")]
    make_run(tmp_path, "r", [row_of_sum("fs", "read")], made)
    assert lines(tmp_path)[:2] == [
        "traced 2/2 processes, 0 dropped",
        "1 process traced by tfs:// alone: file system calls are seen, and nothing below them",
    ]


def test_layers_that_were_not_seen_are_named(tmp_path: Path) -> None:
    # GIVEN a run that called one layer
    layer = POINTS[0].layer
    make_run(tmp_path, "r", [row_of_sum(layer, "read")], [process("client", 1)])
    found = read(tmp_path)
    # THEN it and no other is in the table; the others are named with the reason
    assert [row.layer for row in found.layers] == [layer]
    assert set(found.silent_layers) == {p.layer for p in POINTS if p.makes_rows} - {
        layer,
        "jvm",
        "posix",
        "device",
    }
    assert found.unasked_layers == ["posix", "device"]
    said = "\n".join(summary_lines(found))
    assert f"no calls seen: {', '.join(found.silent_layers)}" in said
    assert "only where asked for: posix (record --native), device (record --devices)" in said


def test_runs_without_events_say_why(tmp_path: Path) -> None:
    make_run(tmp_path, "nothing")
    make_run(tmp_path, "untraced", [], [process("client", 5, traced=False, reason="no agent")])
    make_run(tmp_path, "silent", [], [process("client", 5)])
    make_run(tmp_path, "lost", [], [process("client", 5, lost=7)])
    assert {
        name: summary_lines(read(tmp_path, name))[-1]
        for name in ("nothing", "untraced", "silent", "lost")
    } == {
        "nothing": "no events: no Java process was seen, nor another one by --native",
        "untraced": "no events: none of its processes was traced (iostrata doctor says why)",
        "silent": "no events: its processes called none of the points (iostrata points lists them)",
        "lost": "no events: there was no room for what its processes called",
    }
    assert summary_lines(read(tmp_path, "nothing"))[0] == "traced 0/0 processes, 0 dropped"


def test_why_files_were_rejected_is_said_once_for_each_reason(tmp_path: Path) -> None:
    full, descriptors = "shared memory is full: free some", "raise ulimit -n"
    processes = [process("map", i, refused=1, reason=full) for i in (1, 2)]
    processes.append(process("map", 3, refused=1, reason=descriptors))
    processes.append(process("map", 4, traced=False, reason="no agent"))
    make_run(tmp_path, "r", [], processes)
    assert lines(tmp_path)[:4] == [
        "traced 3/4 processes, 0 dropped, 3 segments or names rejected",
        f"rejected in 2 processes: {full}",
        f"rejected in 1 process: {descriptors}",
        "not traced: map pid 4 (no agent)",
    ]


def test_each_host_has_one_line_of_history(tmp_path: Path) -> None:
    # GIVEN two cores that were a half busy for a second, then busy, then done within 10 ms
    busy = SECOND - SECOND // 10
    samples = [
        sample(0, cpu_user=busy, cpu_system=SECOND // 10, cpu_iowait=SECOND // 10, cpu_idle=busy),
        sample(1, cpu_user=2 * SECOND, disk_read=8 * MIB, disk_written=2 * MIB, net_sent=2048),
        sample(2, interval=SECOND // 100, cpu_user=SECOND // 10, net_loopback=MIB),
        sample(0, host="other", cpu_idle=2 * SECOND),
    ]
    make_run(tmp_path, "r", [row_of_sum("java", "read")], [process("client", 1)], samples)
    # THEN the most is that of a sample long enough for its clock
    said = [line for line in lines(tmp_path) if line.startswith("host ")]
    assert said == [
        "host node: CPU 77 % (at most 100 %), iowait 2 %, disk 4.0 MiB/s read, 1018.9 KiB/s "
        "written, net 0 B/s received, 1018 B/s sent, loopback 509.5 KiB/s",
        "host other: CPU 0 % (at most 0 %), iowait 0 %, disk 0 B/s read, 0 B/s written, "
        "net 0 B/s received, 0 B/s sent, loopback 0 B/s",
    ]
    found = builtins(read(tmp_path))["hosts"]
    assert [(row["host"], row["interval"], row["disk_read"]) for row in found] == [
        ("node", 2_010_000_000, 8 * MIB),
        ("other", SECOND, 0),
    ]
