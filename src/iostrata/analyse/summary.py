"""Everything that a summary shows of a run, as one typed result."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol, TypeVar

import msgspec
from ibis.expr import types as ir

from iostrata.analyse import sample, sampled
from iostrata.analyse.children import ChildProgram, child_programs
from iostrata.analyse.completeness import Completeness, completeness
from iostrata.analyse.cost import Cost, cost
from iostrata.analyse.devices import DeviceTotal, device_totals
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.hosts import HostTotal, host_totals
from iostrata.analyse.latencies import Latency, latencies
from iostrata.analyse.only_summed import UNKNOWN, WithoutTarget, without_target
from iostrata.analyse.parts import PartFiles, part_files
from iostrata.analyse.pipelines import LostDataNode, lost_datanodes
from iostrata.analyse.placement import MapPlaces, map_places
from iostrata.analyse.process_times import ProcessTime, process_times
from iostrata.analyse.ranks import RankFiles, rank_files
from iostrata.analyse.sizes import SizeClass, size_classes
from iostrata.analyse.space import JobSpace, job_spaces
from iostrata.analyse.targets import Target, targets
from iostrata.analyse.threads import ThreadGroup, thread_groups
from iostrata.analyse.totals import (
    LayerTotal,
    OperationTotal,
    Pauses,
    TaskTotal,
    by_layer,
    by_operation,
    by_task,
    pauses,
)
from iostrata.analyse.traced import TracedShare, traced_shares
from iostrata.progress import Progress, silent
from iostrata.records import Count, Record
from iostrata.schema.events import LAYER
from iostrata.schema.names import layer_order
from iostrata.schema.points import POINTS
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import Run

SUMMARY_STEPS = ("sums", "sample", "latencies", "targets", "totals")
# All but the one that holds pauses.
IO_LAYERS = tuple(layer for layer in LAYER if layer != "jvm")
_HOTTEST = 20  # targets
# Recorded where that was asked for only, by an option of `record`: no call of them is no silence.
ASKED_BY = {"posix": "--native", "device": "--devices"}
_TRACED = {point.layer for point in POINTS if point.makes_rows} - ASKED_BY.keys()


class Sizes(
    Record,
    frozen=True,
    rename={
        "empty": "0", "below_512": "<512", "below_4k": "<4K", "below_64k": "<64K",
        "below_1m": "<1M", "below_16m": "<16M", "from_16m": ">=16M",
    },
):  # fmt: skip
    """How many calls of an operation moved how many bytes."""

    layer: str
    op: str
    empty: Count = 0
    below_512: Count = 0
    below_4k: Count = 0
    below_64k: Count = 0
    below_1m: Count = 0
    below_16m: Count = 0
    from_16m: Count = 0
    unknown: Count = 0

    def counts(self) -> dict[str, int]:
        """Calls by the name of the size."""
        return dict(zip(SIZES, msgspec.structs.astuple(self)[2:], strict=True))


# Names of sizes, and the last of the size classes (1 + floor(log2(bytes))) that each holds.
SIZES = ("0", "<512", "<4K", "<64K", "<1M", "<16M", ">=16M", "unknown")
_TOPS = (0, 9, 12, 16, 20, 24, 64, math.inf)


class Summary(Completeness, frozen=True):
    """What a run did. Totals are exact whatever was dropped; latencies, targets and orphans come
    from calls that were recorded individually, and are estimates where the run is `sampled`.
    """

    cost: Cost
    traced_shares: list[TracedShare]  # of processes that know it
    process_times: list[ProcessTime]
    threads: list[ThreadGroup]  # of the run's own processes
    ranks: list[RankFiles]  # of parallel programs
    parts: list[PartFiles]  # of a command that ran several programs, and of servers
    children: list[ChildProgram]  # likewise, those that have ended
    layers: list[LayerTotal]
    silent_layers: list[str]  # that have points, none of which was called
    unasked_layers: list[str]  # likewise, that are recorded where that is asked for (ASKED_BY)
    ops: list[OperationTotal]
    latencies: list[Latency]
    targets: list[Target]
    without_target: list[WithoutTarget]  # of layers and categories that have targets
    tasks: list[TaskTotal]
    map_places: list[MapPlaces]  # of each job
    spaces: list[JobSpace]  # that used most first
    sampled: bool
    sizes: list[Sizes]
    pauses: list[Pauses]
    hosts: list[HostTotal]
    devices: list[DeviceTotal]  # that are mounted, the busiest first
    lost_datanodes: list[LostDataNode]  # that left write pipelines, of calls recorded individually


def summary(opened: OpenedRun, most_targets: int = _HOTTEST, step: Progress = silent) -> Summary:
    """Reads a run; says each of SUMMARY_STEPS."""
    engine = DuckDb(opened)
    step("sums")
    opened.gather_sums()
    step("sample")
    is_sampled = drawn(opened)
    step("latencies")
    times = latencies(opened, is_sampled)
    step("targets")
    hottest = hottest_targets(opened, most_targets)
    has_all = is_sampled or opened.run.source is not None
    nameless = [] if has_all else _without_target(engine, hottest)
    step("totals")
    complete = completeness(opened)
    layers = _in_order(engine.records(by_layer, LayerTotal))
    seen = {row.layer for row in layers}
    return Summary(
        **{name: getattr(complete, name) for name in complete.__struct_fields__},
        cost=cost(opened.run.budget, complete.processes.processes),
        traced_shares=traced_shares(complete.processes.processes),
        process_times=process_times(complete.processes.processes),
        threads=engine.records(thread_groups, ThreadGroup),
        ranks=engine.records(rank_files, RankFiles),
        parts=engine.records(part_files, PartFiles),
        children=engine.records(child_programs, ChildProgram),
        layers=layers,
        silent_layers=_layers(opened.run, _TRACED - seen),
        unasked_layers=_layers(opened.run, ASKED_BY.keys() - seen),
        ops=_in_order(engine.records(by_operation, OperationTotal)),
        latencies=times,
        targets=hottest,
        without_target=nameless,
        tasks=engine.records(by_task, TaskTotal),
        map_places=map_places(engine, opened.run.cluster.configuration),
        spaces=job_spaces(engine),
        sampled=is_sampled,
        sizes=_in_order(sizes(opened)),
        pauses=engine.records(pauses, Pauses),
        hosts=engine.records(host_totals, HostTotal),
        devices=engine.records(device_totals, DeviceTotal),
        lost_datanodes=engine.records(lost_datanodes, LostDataNode),
    )


def drawn(opened: OpenedRun) -> bool:
    """Only some requests were kept; makes the table `sample` of them."""
    found = sample.is_sampled(opened)
    if found:
        sample.draw(opened)
    return found


def hottest_targets(opened: OpenedRun, most: int) -> list[Target]:
    """The targets that took longest; of a run that is sampled, its table `sample` is there."""
    if sample.is_drawn(opened):
        return sampled.hottest(opened, most)
    first = _hottest if most <= _HOTTEST else targets().limit(most)
    return DuckDb(opened).records(first, Target)[:most]


def _hottest() -> ir.Table:
    return targets().limit(_HOTTEST)


def _without_target(engine: DuckDb, hottest: list[Target]) -> list[WithoutTarget]:
    """Calls of which nothing says what they were on, but that may have been on such targets."""
    kinds = {(row.layer, row.category or UNKNOWN) for row in hottest}
    nameless = engine.records(without_target, WithoutTarget)
    return [row for row in nameless if (row.layer, row.category) in kinds]


def sizes(opened: OpenedRun) -> list[Sizes]:
    """Calls by size; classes that are none of SIZES are of unknown size."""
    counts: dict[tuple[str, str], list[int]] = {}
    for row in DuckDb(opened).records(size_classes, SizeClass):
        calls = counts.setdefault((row.op, row.layer), [0] * len(SIZES))
        above = math.inf if row.size_class is None else row.size_class
        calls[next(place for place, top in enumerate(_TOPS) if above <= top)] += row.calls
    return [Sizes(layer, op, *calls) for (op, layer), calls in sorted(counts.items())]


def _layers(run: Run, names: set[str]) -> list[str]:
    """In their order; none of an imported run, which has no points."""
    return [] if run.source else [layer for layer in IO_LAYERS if layer in names]


class _OfLayer(Protocol):
    @property
    def layer(self) -> str: ...


_L = TypeVar("_L", bound=_OfLayer)


def _in_order(rows: Iterable[_L]) -> list[_L]:
    """From the layers that applications call down to the disks."""
    return sorted(rows, key=lambda row: layer_order(row.layer))
