"""The summary of a run as lines of text."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime

from iostrata.analyse.cost import Cost, OverBudget
from iostrata.analyse.intervals import LEAST
from iostrata.analyse.latencies import Latency
from iostrata.analyse.summary import ASKED_BY, SIZES, Sizes, Summary
from iostrata.analyse.targets import Target
from iostrata.analyse.totals import TaskTotal, Total
from iostrata.schema.detail import budget_text, sampling_text
from iostrata.schema.names import left_out
from iostrata.show.children import child_line, child_table
from iostrata.show.completeness import Picture, completeness_lines, why_empty
from iostrata.show.devices import device_table
from iostrata.show.parts import part_table
from iostrata.show.pipelines import lost_lines
from iostrata.show.ranks import rank_table
from iostrata.show.space import space_table
from iostrata.show.tables import Column, directions, estimate, named, number, table
from iostrata.show.threads import thread_table
from iostrata.show.traced import missing_lines, share_table
from iostrata.store.runs import Run
from iostrata.store.tags import tags_text
from iostrata.text import (
    FEW,
    between,
    count,
    margin,
    near,
    percent,
    plural,
    printable,
    seconds,
    size,
)

MOST_NAMELESS = 4
MOST_TARGETS = 10
MOST_LATENCIES = 12
MOST_TASKS = 12
MOST_COSTS = 6
PLACES = ("data_local", "rack_local", "remote")
# Columns by the field of a ProcessTime; of others than these only those that some row has.
ALWAYS_SHOWN = ("lived", "program", "jvm", "queued")
PROCESS_TIMES = {
    "wall time": "lived",
    "CPU before it began": "begin",
    "CPU of the program": "program",
    "loading classes": "class_loading",
    "of the JVM": "jvm",
    "its compilers": "compilers",
    "waited for a CPU": "queued",
    "held back by a limit": "throttled",
}


def summary_lines(summary: Summary) -> list[str]:
    """Completeness first, with DataNodes that failed, then the facts of the run, then what it
    did.
    """
    whole, *missing = completeness_lines(picture(summary))
    failed = lost_lines(summary.lost_datanodes, summary.run.start)
    short = untraced_lines(summary)
    lines = [whole, *failed, *short, *missing, *_facts(summary)]
    lines += [*place_lines(summary), *_hosts(summary)]
    if not summary.layers:
        return [*lines, "", reason_empty(summary)]
    lines += ["", *_by_layer(summary), *_other_layers(summary)]
    lines += ["", *_by_op(summary)]
    for part in (
        *(made(summary) for made in (_sizes, _latencies, _targets, _tasks, _spaces)),
        *(part_table(summary.parts), rank_table(summary.ranks)),
        *(_process_times(summary), thread_table(summary.threads)),
        *(share_table(summary.traced_shares), child_table(summary.children)),
        device_table(summary.devices),
    ):
        lines += ["", *part] if part else []
    return lines


def untraced_lines(summary: Summary) -> list[str]:
    """Children that took much of the CPU, and processes of which much was not traced."""
    children = child_line(summary.children, summary.process_times)
    return [*children, *missing_lines(summary.traced_shares)]


def picture(summary: Summary) -> Picture:
    """How complete the run of a summary is."""
    layers = ", ".join(
        f"{row.layer} {near(row.calls, row.calls_bound, count)}" for row in summary.orphans
    )
    ranks = {rank.task for rank in summary.ranks}  # have no history
    seen = summary.processes.processes
    return Picture(
        processes=summary.processes,
        layers=[row.layer for row in summary.layers],
        of_jobs=any(row.task not in ranks for row in summary.tasks) and not summary.run.source,
        dropped=summary.dropped,
        collapsed=summary.collapsed,
        lost=summary.lost,
        rejected=summary.rejected,
        faulted_points=summary.faulted_points,
        unfinished=summary.unfinished,
        incomplete=summary.incomplete,
        troubles=[
            f"point {point.method}: {point.trouble}"
            for point in summary.user_points
            if point.trouble and point.method not in summary.faulted_points
        ],
        orphans=[f"calls of HDFS servers that no traced client caused: {layers}"] * bool(layers),
        by_tfs=sum(traced.agent is not None and traced.agent.startswith("tfs ") for traced in seen),
    )


def reason_empty(summary: Summary) -> str:
    """Why the run of a summary has no layers to show."""
    return why_empty(picture(summary), summary.run.state, summary.run.events)


def cost_lines(cost: Cost) -> list[str]:
    """`tracing took ~0.7 % of the CPU time of 12 processes (budget 1 %) …`."""
    if not cost.processes:
        return []
    lines = [
        f"tracing took ~{percent(cost.share, 1)} of the CPU time of "
        f"{plural(cost.processes, 'process')} ({seconds(cost.cpu)}), budget "
        f"{budget_text(cost.budget)}; start-up not counted"
    ]
    if cost.summed:
        points = ", ".join(
            f"{row.point.rpartition('.')[2]} ({plural(row.processes, 'process')}, {row.seconds} s)"
            for row in cost.summed[:MOST_COSTS]
        )
        more = len(cost.summed) - MOST_COSTS
        points += f" and {more} more" if more > 0 else ""
        lines.append(f"only in sums, to stay within the budget: {points}")
    if cost.over:
        lines.append(_over(cost.over))
    if cost.budget:
        lines.append("only in sums, as wherever there is a budget: reads of jars and class files")
    return lines


def _over(over: Sequence[OverBudget]) -> str:
    """One line, with the process that went furthest beyond its budget."""
    most = max(over, key=lambda row: row.share)
    who = f"{most.role or 'java'} pid {most.pid} on {most.host} ({percent(most.share, 1)})"
    if len(over) > 1:
        who = f"{plural(len(over), 'process')}, most in {who}"
    return f"budget not met: {who}, for what is recorded or counted whatever it costs"


def place_lines(summary: Summary) -> list[str]:
    """`maps: 5 data-local, 1 rack-local, 0 remote`, of all jobs."""
    rows = summary.map_places
    near = {name.replace("_", "-"): sum(getattr(row, name) for row in rows) for name in PLACES}
    anywhere = sum(row.anywhere for row in rows)
    if not anywhere + sum(near.values()):
        return []
    known = ", ".join(f"{count(number)} {name}" for name, number in near.items())
    unknown = f"{count(anywhere)} whose file system names no node for their input"
    parts = [known] * any(near.values()) + [unknown] * bool(anywhere)
    return [f"maps: {', '.join(parts)}"]


def _hosts(summary: Summary) -> list[str]:
    """`host node: CPU 61 % (at most 98 %), iowait 2 %, disk 3.0 MiB/s read …`."""
    lines = []
    for row in summary.hosts:

        def rate(moved: int, interval: int = row.interval) -> str:
            return f"{size(moved * 10**9 // interval)}/s"

        lines.append(
            f"host {row.host}: CPU {percent(row.cpu)} (at most {percent(row.cpu_max)}), "
            f"iowait {percent(row.iowait)}, disk {rate(row.disk_read)} read, "
            f"{rate(row.disk_written)} written, net {rate(row.net_received)} received, "
            f"{rate(row.net_sent)} sent, loopback {rate(row.net_loopback)}"
        )
    return [printable(line) for line in lines]


def headline(run: Run) -> str:
    """`run r · ok · exit 0 · 1.20 s · 2026-03-01 10:15:00 · on node by alice`."""
    parts = [f"run {run.name}", run.state]
    if run.exit is not None:
        parts.append(f"exit {run.exit}")
    if run.start and run.end:
        parts.append(seconds(run.end - run.start))
    if run.start:
        parts.append(datetime.fromtimestamp(run.start // 10**9).strftime("%Y-%m-%d %H:%M:%S"))
    if run.host:
        parts.append(f"on {run.host}" + (f" by {run.user}" if run.user else ""))
    return " · ".join(parts)


def _facts(summary: Summary) -> list[str]:
    run = summary.run
    lines = [headline(run)]
    if run.title:
        lines.append(f"workload: {run.title}")
    if run.command:
        lines.append(f"command: {shlex.join(run.command)}")
    if run.tags:
        lines.append(f"tags: {tags_text(run.tags)}")
    lines += _level(run.level, any(row.layer == "task" for row in summary.layers))
    if run.sampling:
        share = sampling_text(run.sampling)
        what = f"{share} of the requests recorded individually, the rest only in sums"
        lines.append(f"sampling {share}: {what}")
    if run.message:
        lines.append(f"note: {run.message}")
    lines.append(f"{plural(run.events, 'event')}, {size(run.bytes)}")
    lines += cost_lines(summary.cost)
    return [printable(line) for line in lines]


def _level(level: str, tasks: bool) -> list[str]:
    """What the level leaves out; of records only where a run has tasks that may have some."""
    summed = left_out(level)
    lines = [f"level {level}: {summed} only in sums"] if summed else []
    if tasks and level != "record":
        lines.append("records of MapReduce are not counted: --level record was not asked for")
    return lines


def total_time(row: Total) -> str:
    """`1.2 s`, or `~1.2 s ±3 %` where clocks were sampled: 99 of 100 estimates are that close."""
    if not row.estimated:
        return seconds(row.time)
    off = row.time_bound / row.time if row.time else 0
    return f"~{seconds(row.time)}" + (f" {margin(off)}" if off else "")


def _by_layer(summary: Summary) -> list[str]:
    shown = [named("layer"), number("calls", count), *directions(summary.layers)]
    time = Column("time of all threads", total_time, number=True)
    return table(summary.layers, [*shown, time, number("errors", count)])


def _other_layers(summary: Summary) -> list[str]:
    lines = []
    if summary.silent_layers:
        lines.append(f"no calls seen: {', '.join(summary.silent_layers)}")
    if summary.unasked_layers:
        options = [f"{layer} (record {ASKED_BY[layer]})" for layer in summary.unasked_layers]
        lines.append(f"only where asked for: {', '.join(options)}")
    pauses = [
        f"pauses of whole JVMs, in no layer: {row.op} {count(row.count)} in "
        f"{plural(row.processes, 'process')}, {seconds(row.time)} together, "
        f"longest {seconds(row.max or 0)}"
        for row in summary.pauses
    ]
    return lines + pauses


def _by_op(summary: Summary) -> list[str]:
    operation = Column("operation", lambda row: f"({row.op})" if row.nested else row.op)
    numbers = (
        number("calls", count),
        number("bytes", size),
        Column("time", total_time, number=True),
    )
    lines = table(summary.ops, [named("layer"), operation, *numbers])
    if any(row.nested for row in summary.ops):
        lines.append("(in brackets: within a call of the same layer, in no total of the layer)")
    return lines


def _sizes(summary: Summary) -> list[str]:
    if not summary.sizes:
        return []
    names = [name for name in SIZES if name != "unknown" or any(r.unknown for r in summary.sizes)]
    shown = [_class(name) for name in names]
    return table(summary.sizes, [named("calls by size", "layer"), named("", "op"), *shown])


def _class(name: str) -> Column:
    def text(row: Sizes) -> str:
        calls = row.counts()[name]
        return count(calls) if calls else "·"

    return Column(name, text, number=True)


def _latencies(summary: Summary) -> list[str]:
    """Of the operations that took longest; estimates as `~1.2 ms (1.1 ms to 1.4 ms)`."""
    if not summary.latencies:
        return []

    def time(title: str, field: str) -> Column:
        def text(row: Latency) -> str:
            low, high = getattr(row, f"{field}_low"), getattr(row, f"{field}_high")
            return between(getattr(row, field), low, high, seconds)

        return Column(title, text, number=True)

    whose = (named("time of a call", "layer"), named("", "op"), estimate("calls", count))
    times = (time("mean", "mean"), time("median", "p50"), time("95 %", "p95"), time("99 %", "p99"))
    return [*table(summary.latencies[:MOST_LATENCIES], [*whose, *times]), *_of_detail(summary)]


def _of_detail(summary: Summary) -> list[str]:
    return ["(of the calls that were recorded individually)"] if summary.dropped else []


def _without_target(summary: Summary) -> str:
    """`34 930 calls of java on jars (35.8 MiB), 12 calls of hdfs on blk (0 B)`."""
    named = [
        f"{plural(row.calls, 'call')} of {row.layer} on {row.category} ({size(row.bytes)})"
        for row in summary.without_target
    ]
    more = [f"{len(named) - MOST_NAMELESS} others"] if len(named) > MOST_NAMELESS else []
    return ", ".join([*named[:MOST_NAMELESS], *more])


def _name(target: Target) -> str:
    """A block's target is its pool: the number says which."""
    return target.target if target.block is None else f"blk_{target.block} of {target.target}"


def _targets(summary: Summary) -> list[str]:
    if not summary.targets:
        return []
    shown = [
        *(named("hottest", "layer"), named("category"), estimate("calls", count)),
        *directions(summary.targets, made=estimate),
        *(estimate("time", seconds), Column("target", _name)),
    ]
    lines = table(summary.targets[:MOST_TARGETS], shown)
    if summary.without_target:
        lines.append(
            f"(no target is known of {_without_target(summary)}: each may have been on any target "
            "of its kind)"
        )
    if summary.sampled:
        lines.append(
            "(~ is scaled up from the requests that were recorded individually, and within ± for "
            f"95 of 100; {FEW}: {LEAST} requests are needed)"
        )
    return lines


def _tasks(summary: Summary) -> list[str]:
    """The tasks that took longest, each with its layers."""
    if not summary.tasks:
        return []
    time: dict[tuple[str, str], int] = {}
    for row in summary.tasks:
        time[_task(row)] = time.get(_task(row), 0) + row.time
    shown = sorted(time, key=lambda key: -time[key])[:MOST_TASKS]
    rows = [row for key in shown for row in summary.tasks if _task(row) == key]
    whose = (Column("job or task", lambda row: row.task or row.job or ""), named("layer"))
    numbers = (number("calls", count), *directions(summary.tasks), number("time", seconds))
    lines = table(rows, [*whose, *numbers])
    if len(time) > len(shown):
        lines.append(f"and {len(time) - len(shown)} more (--json lists all)")
    return lines


def _process_times(summary: Summary) -> list[str]:
    if not summary.process_times:
        return []
    rows = summary.process_times
    times = [
        number(title, seconds, field)
        for title, field in PROCESS_TIMES.items()
        if field in ALWAYS_SHOWN or any(getattr(row, field) for row in rows)
    ]
    whose = (named("processes", "role"), number("number", count, "processes"))
    return [
        *table(rows, [*whose, *times]),
        "(of the JVM: its compilers and garbage collectors; loading classes: by the JVM's clock, "
        "part of the program's; waited: threads of the program, all together)",
    ]


def _spaces(summary: Summary) -> list[str]:
    return space_table(summary.spaces)


def _task(row: TaskTotal) -> tuple[str, str]:
    return row.job or "", row.task or ""
