"""What a run did, as values: completeness, totals by layer, operation, task and size.

Totals come from rows of kind `sum` only, which lose nothing. Calls and times leave out what is
nested in a call of the same layer (flag inner), bytes what an enclosing call of the same layer and
operation counts too (flag covered). Only the hottest targets come from calls kept one by one.
Sizes are bytes, times ns summed over threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from iostrata.analyse import sample
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.point_calls import UserPoint, user_points
from iostrata.analyse.sizes import size_classes
from iostrata.analyse.targets import targets as by_target
from iostrata.progress import Progress, silent
from iostrata.records import builtins
from iostrata.schema.directions import DIRECTIONS
from iostrata.schema.events import FIRST_USER_POINT, FLAG, LAYER
from iostrata.schema.points import POINTS
from iostrata.schema.roles import HDFS_SERVERS
from iostrata.show.cost import Cost, cost
from iostrata.show.coverage import Coverage, coverage
from iostrata.show.latency import latencies
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import Run

# Upper bounds of the classes shown, as size classes: 1 + floor(log2(bytes)).
SIZES = (("0", 0), ("<512", 9), ("<4K", 12), ("<64K", 16), ("<1M", 20), ("<16M", 24), (">=16M", 64))

Row = dict[str, Any]
# All but the one that holds pauses.
IO_LAYERS = [layer for layer in LAYER if layer != "jvm"]


@dataclass(frozen=True)
class Totals:
    """Everything a summary shows; `as_dict` is its JSON form."""

    run: Run
    incomplete: list[str]  # what of the run is in no readable file
    coverage: Coverage
    dropped: int  # calls kept in sums only
    collapsed: int  # calls summed without task and category
    lost: int  # calls in no sum
    rejected: int  # segments or names that could not be made
    cost: Cost  # what tracing took
    faulted: list[str]  # points switched off by a fault
    layers: list[Row]  # layer, calls, bytes_* per DIRECTIONS, time, estimated, errors
    ops: list[
        Row
    ]  # layer, op, nested (in a call of its layer), calls, bytes, time, estimated, errors
    latencies: list[Row]  # layer, op, calls, mean, p50, p95, p99, of calls kept one by one
    targets: list[Row]  # layer, category, target, block, calls, bytes_*, time
    tasks: list[Row]  # job, task, layer, calls, bytes_*, time
    orphans: list[Row]  # layer, calls, bytes: of HDFS servers, for no traced client
    sizes: list[Row]  # layer, op, then calls per size of SIZES and "unknown"
    pauses: list[Row]  # of whole JVMs: op, processes, count, time, max
    unfinished: int  # calls still open when their process died
    user_points: list[UserPoint]  # that the recorder brought
    sampled: bool  # only some requests were kept: what single calls say is an estimate
    hosts: list[Row]  # host, interval, cpu, cpu_max, iowait (0 to 1), bytes within interval

    @property
    def processes(self) -> list[Row]:
        """Role, pid, host, traced, reason, exit …"""
        return self.coverage.processes

    @property
    def traced(self) -> int:
        """Processes with an agent that recorded."""
        return self.coverage.traced

    @property
    def silent_layers(self) -> list[str]:
        """Layers that have points, none of which was called; an imported run has no points."""
        if self.run.source:
            return []
        seen = {row["layer"] for row in self.layers}
        return [layer for layer in IO_LAYERS if layer in _layers_with_points() - seen]

    @property
    def absent_layers(self) -> list[str]:
        """Layers that this version has no points for; likewise."""
        if self.run.source:
            return []
        seen = {row["layer"] for row in self.layers}
        return [layer for layer in IO_LAYERS if layer not in _layers_with_points() | seen]

    def as_dict(self) -> Row:
        """JSON values; every count is exact, sizes in bytes, times in ns."""
        return {
            "run": self.run.as_dict(),
            "incomplete": self.incomplete,
            "processes": self.coverage.as_dict(),
            "dropped": self.dropped,
            "collapsed": self.collapsed,
            "lost": self.lost,
            "rejected": self.rejected,
            "cost": self.cost.as_dict(),
            "faulted_points": self.faulted,
            "unfinished": self.unfinished,
            "layers": self.layers,
            "silent_layers": self.silent_layers,
            "absent_layers": self.absent_layers,
            "ops": self.ops,
            "latencies": self.latencies,
            "targets": self.targets,
            "tasks": self.tasks,
            "orphans": self.orphans,
            "sampled": self.sampled,
            "sizes": self.sizes,
            "user_points": builtins(self.user_points),
            "pauses": self.pauses,
            "hosts": self.hosts,
        }


TOTALS_STEPS = ("sums", "sample", "latencies", "targets", "totals")


def totals(opened: OpenedRun, most_targets: int = 20, step: Progress = silent) -> Totals:
    """Reads the totals of a run; says each of TOTALS_STEPS."""
    step("sums")
    opened.gather_sums()
    step("sample")
    sampled = drawn(opened)
    step("latencies")
    times = latencies(opened, sampled)
    step("targets")
    targets = hottest(opened, sampled, most_targets)
    step("totals")
    processes = opened.rows(_PROCESSES)
    losses = opened.rows(_LOSSES)[0]
    return Totals(
        run=opened.run,
        incomplete=opened.incomplete,
        coverage=coverage(opened, processes),
        **losses,
        cost=cost(opened.run, processes),
        faulted=sorted(row["point"] for row in opened.rows(_FAULTED)),
        layers=in_layer_order(opened.rows(_BY_LAYER)),
        ops=in_layer_order(opened.rows(_BY_OP)),
        latencies=times,
        targets=targets,
        tasks=opened.rows(_BY_TASK),
        orphans=in_layer_order(_orphans(opened, sampled)),
        sampled=sampled,
        sizes=in_layer_order(_sizes(opened)),
        pauses=opened.rows(_PAUSES),
        unfinished=opened.rows(_UNFINISHED)[0]["n"],
        user_points=user_points(DuckDb(opened), opened.run),
        hosts=opened.rows(_HOSTS),
    )


def hottest(opened: OpenedRun, is_sampled: bool, most: int) -> list[Row]:
    """The targets that took longest, of the calls kept one by one; shape as `Totals.targets`.

    Of all calls in layers whose sums know their targets, as those of some imported runs do.
    """
    if is_sampled:
        from iostrata.show import sampled  # it needs what this module makes

        return sampled.hottest(opened, most)
    found = DuckDb(opened).rows(by_target().limit(most))
    return [{_COLUMNS.get(name, name): value for name, value in row.items()} for row in found]


def _sizes(opened: OpenedRun) -> list[Row]:
    """Calls per class of SIZES; classes above all of them, and none, are of unknown size."""
    found: dict[tuple[str, str], Row] = {}
    for row in DuckDb(opened).rows(size_classes()):
        empty = {"layer": row["layer"], "op": row["op"], **dict.fromkeys(_CLASSES, 0)}
        sizes = found.setdefault((row["op"], row["layer"]), empty)
        above = math.inf if row["size_class"] is None else row["size_class"]
        sizes[next((name for name, top in SIZES if above <= top), "unknown")] += row["calls"]
    return [row for _, row in sorted(found.items())]


def drawn(opened: OpenedRun) -> bool:
    """Only some requests were kept one by one; makes the table `sample` of them."""
    found = sample.is_sampled(opened)
    if found:
        sample.draw(opened)
    return found


def _orphans(opened: OpenedRun, is_sampled: bool) -> list[Row]:
    if is_sampled:
        from iostrata.show import sampled

        return sampled.orphans(opened, _ORPHANED)
    return opened.rows(_ORPHANS)


def _layers_with_points() -> set[str]:
    return {point.layer for point in POINTS if point.makes_rows}


def in_layer_order(rows: list[Row]) -> list[Row]:
    order = {layer: position for position, layer in enumerate(LAYER)}
    return sorted(rows, key=lambda row: order.get(row["layer"], len(order)))


def _one_of(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


BOUND = 2.576  # standard deviations: 99 of 100 of a normal distribution
OUTER = f"(flags & {FLAG['inner']}) = 0"
COUNTED_ONCE = f"(flags & {FLAG['double_counted']}) = 0"


def moves(way: str) -> str:
    """Of calls and sums whose bytes went that way, and count."""
    return f"op IN ({_one_of(DIRECTIONS[way])}) AND {COUNTED_ONCE}"


MOVED = ", ".join(
    f"coalesce(sum(bytes) FILTER ({moves(way)}), 0)::BIGINT AS bytes_{way}" for way in DIRECTIONS
)
_ALL_MOVED = ", ".join(f"sum(bytes_{way})::BIGINT AS bytes_{way}" for way in DIRECTIONS)
_WAYS = ", ".join(f"bytes_{way}" for way in DIRECTIONS)
_COLUMNS = {way: f"bytes_{way}" for way in DIRECTIONS}
_CLASSES = (*(name for name, _ in SIZES), "unknown")


# Each process gives points of users ids of its own.
_WHOSE = f"CASE WHEN point >= {FIRST_USER_POINT} THEN proc END"
_SUMS = f"SELECT *, (flags & {FLAG['inner']}) <> 0 AS nested FROM sums"


def summed(keys: str, counted: str = OUTER, more: str = "", where: str = "true") -> str:
    """Totals per `keys`; the time of points with sampled clocks is scaled up point by point.

    `time_bound` is how far off `time` may be because of that: 99 of 100 estimates are closer. What
    is inside a hot call and kept one by one adds its exact time.
    """
    return f"""
        WITH by_point AS (
            SELECT {keys}, point,
                coalesce(sum("count") FILTER ({counted}), 0)::BIGINT AS calls,
                {MOVED}, sum(bytes)::BIGINT AS bytes,
                sum(errors) FILTER ({counted})::BIGINT AS errors,
                coalesce(sum(coalesce(weight, timed)) FILTER ({counted}), 0)::BIGINT AS weight,
                coalesce(sum(timed) FILTER ({counted}), 0)::BIGINT AS timed,
                sum(timed_dur) FILTER ({counted})::BIGINT AS timed_dur,
                coalesce(sum(inside) FILTER ({counted}), 0)::BIGINT AS inside,
                coalesce(sum(spread) FILTER ({counted}), 0)::DOUBLE AS spread
            FROM ({_SUMS}) WHERE {where} GROUP BY {keys}, point, {_WHOSE})
        SELECT {keys}, sum(calls)::BIGINT AS calls, {more} {_ALL_MOVED},
            coalesce(sum(inside + CASE WHEN weight > 0 THEN
                timed_dur::DOUBLE * calls / weight ELSE 0 END), 0)::BIGINT AS time,
            ({BOUND} * sqrt(sum(CASE WHEN weight > 0 THEN
                spread * (calls::DOUBLE / weight) ** 2 ELSE 0 END)))::BIGINT AS time_bound,
            bool_or(timed < calls) AS estimated, coalesce(sum(errors), 0)::BIGINT AS errors
        FROM by_point GROUP BY {keys}"""


_PROCESSES = """
    SELECT host, role, pid, main, job, task, traced, coalesce(reason, '') AS reason,
        agent, jvm, "exit", calls, detail, dropped, collapsed, lost, rejected,
        cpu, cost_hooks + cost_thread AS cost, cost_collector, "over", summed
    FROM processes ORDER BY traced, role, host, pid"""
_LOSSES = """
    SELECT coalesce(sum(dropped), 0)::BIGINT AS dropped,
        coalesce(sum(collapsed), 0)::BIGINT AS collapsed,
        coalesce(sum(lost), 0)::BIGINT AS lost, coalesce(sum(rejected), 0)::BIGINT AS rejected
    FROM processes"""
_FAULTED = """
    SELECT DISTINCT unnest(string_split(points_faulted, ',')) AS point
    FROM processes WHERE coalesce(points_faulted, '') <> ''"""
_PAUSES = """
    SELECT op, count(DISTINCT proc)::BIGINT AS processes, sum(count)::BIGINT AS count,
        sum(timed_dur)::BIGINT AS time, max(max)::BIGINT AS max
    FROM pauses WHERE kind = 'sum' GROUP BY op ORDER BY op"""
_BY_LAYER = summed("layer")
# Nested calls too, in rows of their own: packets lie within blocks, but are worth seeing.
_BY_OP = (
    summed("layer, op, nested", "true", "sum(bytes)::BIGINT AS bytes,")
    + " ORDER BY time DESC, op, nested"
)
# Of a process that was killed its own span is always open.
_UNFINISHED = "SELECT count(*) n FROM events WHERE kind = 'unfinished' AND op <> 'process'"
# A server's call whose way up ends in the server itself: its client was not traced, or the server
# acted on its own. From calls kept one by one.
_ORPHANED = f"role IN {HDFS_SERVERS} AND trace = proc"
_ORPHANS = f"""
    SELECT layer, count(*)::BIGINT AS calls, coalesce(sum(bytes), 0)::BIGINT AS bytes
    FROM calls WHERE {_ORPHANED} GROUP BY layer"""
_BY_TASK = f"""
    SELECT job, task, layer, calls, {_WAYS}, time
    FROM ({summed("job, task, layer")})
    WHERE coalesce(job, task, '') <> '' ORDER BY job, task, layer"""


# A sample of less than half a second says little about the most: clocks tick 100 times a second.
_BUSY = "(cpu_user + cpu_system) / (cores::DOUBLE * interval)"
_MOST = f"max({_BUSY}) FILTER (interval >= 500000000)"
_HOSTS = f"""
    WITH samples AS (SELECT * FROM system WHERE interval > 0 AND cores > 0)
    SELECT host, sum(interval)::BIGINT AS interval,
        sum(cpu_user + cpu_system) / sum(cores::DOUBLE * interval) AS cpu,
        coalesce({_MOST}, max({_BUSY})) AS cpu_max,
        sum(cpu_iowait) / sum(cores::DOUBLE * interval) AS iowait,
        sum(disk_read)::BIGINT AS disk_read, sum(disk_written)::BIGINT AS disk_written,
        sum(net_received)::BIGINT AS net_received, sum(net_sent)::BIGINT AS net_sent,
        sum(net_loopback)::BIGINT AS net_loopback
    FROM samples GROUP BY host ORDER BY host"""
