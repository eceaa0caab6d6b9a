"""The summary of a run as lines of text."""

from __future__ import annotations

import shlex
from datetime import datetime

from iostrata.analyse.sample import LEAST
from iostrata.schema.directions import DIRECTIONS
from iostrata.schema.names import left_out, sampling_text
from iostrata.show.cost import cost_lines
from iostrata.show.latency import STATISTICS
from iostrata.show.totals import SIZES, Row, Totals
from iostrata.text import (
    FEW,
    between,
    columns,
    count,
    margin,
    near,
    percent,
    plural,
    printable,
    seconds,
    size,
)

HDFS_LAYERS = ("hdfs", "namenode", "datanode")
MOST_TARGETS = 10
MOST_LATENCIES = 12
MOST_TASKS = 12
MOST_ATTEMPTS = 50
MOST_INCOMPLETE = 50


def summary_lines(totals: Totals) -> list[str]:
    """Completeness first, then the facts of the run, then what it did."""
    lines = [*completeness(totals), *_facts(totals), *_hosts(totals)]
    if not totals.layers:
        return [*lines, "", why_empty(totals)]
    lines += ["", *_by_layer(totals), *_other_layers(totals)]
    lines += ["", *_by_op(totals)]
    if totals.sizes:
        lines += ["", *_sizes(totals)]
    if totals.latencies:
        lines += ["", *_latencies(totals)]
    if totals.targets:
        lines += ["", *_targets(totals)]
    if totals.tasks:
        lines += ["", *_tasks(totals)]
    return lines


def completeness(totals: Totals) -> list[str]:
    """How complete the picture is.

    `traced 12/14 processes, 3/3 DataNodes, 0 dropped`, then each that is missing by name.
    """
    covered = totals.coverage
    first = f"traced {covered.traced}/{covered.total} processes"
    if covered.datanodes is not None:
        seen = len(covered.datanodes) - len(covered.missing_datanodes)
        first += f", {seen}/{len(covered.datanodes)} DataNodes"
    elif any(row["layer"] in HDFS_LAYERS for row in totals.layers):
        first += ", DataNodes not asked"
    first += f", {count(totals.dropped)} dropped"
    first += " (in totals, not one by one)" if totals.dropped else ""
    losses = (
        (totals.collapsed, "without task and category"),
        (totals.lost, "lost (in no total)"),
        (totals.rejected, "segments or names rejected"),
    )
    first += "".join(f", {count(number)} {what}" for number, what in losses if number)
    lines = [first, *_incomplete(totals), *_missing(totals)]
    if totals.faulted:
        lines.append(f"points switched off by a fault: {', '.join(totals.faulted)}")
    lines += [
        f"point {point.method}: {point.trouble}"
        for point in totals.user_points
        if point.trouble and point.method not in totals.faulted
    ]
    if totals.unfinished:
        lines.append(f"{plural(totals.unfinished, 'call')} still open when the process died")
    if totals.orphans:
        of = ", ".join(f"{row['layer']} {near(row, 'calls', count)}" for row in totals.orphans)
        lines.append(f"calls of HDFS servers that no traced client caused: {of}")
    return [printable(line) for line in lines]


def _incomplete(totals: Totals) -> list[str]:
    lines = [f"incomplete: {line}" for line in totals.incomplete[:MOST_INCOMPLETE]]
    more = len(totals.incomplete) - len(lines)
    return lines + ([f"and {count(more)} more that are incomplete (--json lists all)"] * bool(more))


def _missing(totals: Totals) -> list[str]:
    covered = totals.coverage
    at = {(n["host"], n.get("pid")): n["name"] for n in covered.missing_datanodes}
    lines = []
    for row in covered.processes:
        if not row["traced"]:
            name = row["task"] or at.pop((row["host"], row["pid"]), "")
            who = f"{row['role'] or 'java'} pid {row['pid']}{name and f', {name}'}"
            lines.append(f"not traced: {who} ({row['reason']})")
    why = "the NameNode lists it, no traced process is it"
    lines += [f"not traced: DataNode {name} ({why})" for name in sorted(at.values())]
    why = "the job history has it, no process reported it"
    attempts = covered.missing_attempts
    lines += [f"not traced: {attempt} ({why})" for attempt in attempts[:MOST_ATTEMPTS]]
    if len(attempts) > MOST_ATTEMPTS:
        lines.append(f"and {count(len(attempts) - MOST_ATTEMPTS)} more attempts (--json lists all)")
    lines += [f"did not answer: {whom}" for whom in covered.unasked]
    if covered.attempts is None and totals.tasks and not totals.run.source:
        lines.append("job history not asked: attempts on hosts without a collector are not known")
    return lines


def _hosts(totals: Totals) -> list[str]:
    """`host node: CPU 61 % (at most 98 %), iowait 2 %, disk 3.0 MiB/s read …`."""

    def rate(row: Row, column: str) -> str:
        return f"{size(row[column] * 10**9 // row['interval'])}/s"

    return [
        printable(
            f"host {row['host']}: CPU {percent(row['cpu'])} (at most {percent(row['cpu_max'])}), "
            f"iowait {percent(row['iowait'])}, disk {rate(row, 'disk_read')} read, "
            f"{rate(row, 'disk_written')} written, net {rate(row, 'net_received')} received, "
            f"{rate(row, 'net_sent')} sent, loopback {rate(row, 'net_loopback')}"
        )
        for row in totals.hosts
    ]


def _facts(totals: Totals) -> list[str]:
    run = totals.run
    parts = [f"run {run.name}", run.state]
    if run.exit is not None:
        parts.append(f"exit {run.exit}")
    if run.start and run.end:
        parts.append(seconds(run.end - run.start))
    if run.start:
        parts.append(datetime.fromtimestamp(run.start // 10**9).strftime("%Y-%m-%d %H:%M:%S"))
    if run.host:
        parts.append(f"on {run.host}" + (f" by {run.user}" if run.user else ""))
    lines = [" · ".join(parts)]
    if run.command:
        lines.append(f"command: {shlex.join(run.command)}")
    if run.level != "record":
        lines.append(f"level {run.level}: {left_out(run.level)} only in sums")
    if run.sampling:
        share = sampling_text(run.sampling)
        lines.append(f"sampling {share}: {share} of the requests one by one, the rest only in sums")
    if run.message:
        lines.append(f"note: {run.message}")
    lines.append(f"{plural(run.events, 'event')}, {size(run.bytes)}")
    lines += cost_lines(totals.cost)
    return [printable(line) for line in lines]


def why_empty(totals: Totals) -> str:
    """Why there are no layers to show."""
    if totals.run.events and totals.incomplete:
        return "no events: those that were recorded are in no readable file"
    if totals.run.state == "recording":
        return "no events so far: the run is being recorded"
    if not totals.processes:
        return "no events: the command started no Java process"
    if not totals.traced:
        return "no events: none of its processes was traced (iostrata doctor says why)"
    return "no events: its processes called none of the points (iostrata points lists them)"


def _time(row: Row) -> str:
    """`1.2 s`, or `~1.2 s ±3 %` where clocks were sampled: 99 of 100 estimates are that close."""
    if not row.get("estimated"):
        return seconds(row["time"])
    off = row.get("time_bound", 0) / row["time"] if row["time"] else 0
    return f"~{seconds(row['time'])}" + (f" {margin(off)}" if off else "")


def _ways(rows: list[Row]) -> list[str]:
    """The directions worth a column: reading and writing always, the network when used."""
    return [
        way
        for way in DIRECTIONS
        if way in ("read", "written") or any(row[f"bytes_{way}"] for row in rows)
    ]


def _by_layer(totals: Totals) -> list[str]:
    ways = _ways(totals.layers)
    rows = [
        [
            row["layer"],
            count(row["calls"]),
            *(size(row[f"bytes_{way}"]) for way in ways),
            _time(row),
            count(row["errors"]),
        ]
        for row in totals.layers
    ]
    header = ["layer", "calls", *ways, "time of all threads", "errors"]
    return columns(header, rows, range(1, len(header)))


def _other_layers(totals: Totals) -> list[str]:
    lines = []
    if totals.silent_layers:
        lines.append(f"no calls seen: {', '.join(totals.silent_layers)}")
    if totals.absent_layers:
        lines.append(f"not traced by this version: {', '.join(totals.absent_layers)}")
    for row in totals.pauses:
        what = f"{count(row['count'])} in {plural(row['processes'], 'process')}"
        lines.append(
            f"pauses of whole JVMs, in no layer: {row['op']} {what}, "
            f"{seconds(row['time'])} together, longest {seconds(row['max'])}"
        )
    return lines


def _by_op(totals: Totals) -> list[str]:
    rows = [
        [
            row["layer"],
            f"({row['op']})" if row["nested"] else row["op"],
            count(row["calls"]),
            size(row["bytes"]),
            _time(row),
        ]
        for row in totals.ops
    ]
    lines = columns(["layer", "operation", "calls", "bytes", "time"], rows, range(2, 5))
    if any(row["nested"] for row in totals.ops):
        lines.append("(in brackets: within a call of the same layer, in no total of the layer)")
    return lines


def _sizes(totals: Totals) -> list[str]:
    names = [name for name, _ in SIZES]
    if any(row["unknown"] for row in totals.sizes):
        names.append("unknown")
    rows = [
        [row["layer"], row["op"], *(count(row[name]) if row[name] else "·" for name in names)]
        for row in totals.sizes
    ]
    return columns(["calls by size", "", *names], rows, range(2, 2 + len(names)))


def _latencies(totals: Totals) -> list[str]:
    """Of the operations that took longest; estimates as `~1.2 ms (1.1 ms to 1.4 ms)`."""
    rows = [
        [
            row["layer"],
            row["op"],
            near(row, "calls", count),
            *(between(row, name, seconds) for name in STATISTICS),
        ]
        for row in totals.latencies[:MOST_LATENCIES]
    ]
    header = ["time of a call", "", "calls", *STATISTICS.values()]
    lines = columns(header, rows, range(2, len(header)))
    if totals.dropped:
        lines.append("(of the calls kept one by one)")
    return lines


def _name(target: Row) -> str:
    """A block's target is its pool: the number says which."""
    if target["block"] is None:
        return str(target["target"])
    return f"blk_{target['block']} of {target['target']}"


def _targets(totals: Totals) -> list[str]:
    ways = _ways(totals.targets)
    rows = [
        [
            row["layer"],
            row["category"] or "",
            near(row, "calls", count),
            *(near(row, f"bytes_{way}", size) for way in ways),
            near(row, "time", seconds),
            _name(row),
        ]
        for row in totals.targets[:MOST_TARGETS]
    ]
    header = ["hottest", "category", "calls", *ways, "time", "target"]
    lines = columns(header, rows, range(2, len(header) - 1))
    if totals.dropped:
        lines.append("(of the calls kept one by one)")
    if totals.sampled:
        lines.append(
            "(~ is scaled up from the requests kept one by one, and within ± for 95 of 100; "
            f"{FEW}: {LEAST} requests are needed)"
        )
    return lines


def _tasks(totals: Totals) -> list[str]:
    """The tasks that took longest, each with its layers."""
    ways = _ways(totals.tasks)
    time: dict[tuple[str, str], int] = {}
    for row in totals.tasks:
        key = (row["job"] or "", row["task"] or "")
        time[key] = time.get(key, 0) + row["time"]
    shown = sorted(time, key=lambda key: -time[key])[:MOST_TASKS]
    rows = [
        [
            row["task"] or row["job"],
            row["layer"],
            count(row["calls"]),
            *(size(row[f"bytes_{way}"]) for way in ways),
            seconds(row["time"]),
        ]
        for key in shown
        for row in totals.tasks
        if (row["job"] or "", row["task"] or "") == key
    ]
    header = ["job or task", "layer", "calls", *ways, "time"]
    lines = columns(header, rows, range(2, len(header)))
    if len(time) > len(shown):
        lines.append(f"and {len(time) - len(shown)} more (--json lists all)")
    return lines
