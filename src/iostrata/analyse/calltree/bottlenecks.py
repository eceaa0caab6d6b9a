"""What holds a run back: functions by self time, by total, or by the critical path."""

from __future__ import annotations

from collections.abc import Iterable

from iostrata.analyse.calltree.critical import PathFunction, PathStage, critical_path
from iostrata.analyse.calltree.native import MergedFunction, call_trees
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.waiting import WAITING_OPERATIONS, PipeReads, pipe_reads
from iostrata.progress import Progress, silent
from iostrata.records import Count, Ns, Record, records
from iostrata.store.opened import OpenedRun

RANKS = ("critical", "self", "total")
STEPS = ("call tree", "critical path")
_Key = tuple[str, str, str, str]


class Bottleneck(Record, frozen=True):
    """A function in processes of a role on a host: times of all threads, and on the critical path.

    The waiting is part of the time before it, and so is what is idle (`PathFunction`).
    """

    layer: str
    op: str
    role: str
    host: str
    calls: Count = 0
    total: Ns = 0
    self: Ns = 0
    self_waiting: Ns = 0
    critical: Ns = 0
    critical_waiting: Ns = 0
    critical_idle: Ns = 0

    @property
    def name(self) -> str:
        """`layer.op`."""
        return f"{self.layer}.{self.op}"


class Bottlenecks(Record, frozen=True):
    """Functions, the one that holds the run back most first; `by` of RANKS.

    `wall`: of the critical path. `sampled`: times of calls are estimates from some requests.
    `stages` of the critical path. `incomplete`: what of the run is in no readable file.
    """

    by: str
    wall: Ns
    sampled: bool
    functions: list[Bottleneck]
    stages: list[PathStage]
    incomplete: list[str]


def bottlenecks(opened: OpenedRun, by: str = "critical", step: Progress = silent) -> Bottlenecks:
    """Ranks the functions of a run; `by` of RANKS; says each of STEPS. Raises UserError."""
    trees = call_trees(opened, progress=step)
    path = critical_path(opened, trees, step)
    pipes = DuckDb(opened).records(pipe_reads, PipeReads)
    ranked = _ranked(trees.functions, pipes, path.by_function)
    ranked.sort(key=lambda row: (-getattr(row, by), row.layer, row.op, row.role))
    return Bottlenecks(by, path.wall, trees.sampled, ranked, path.by_stage, opened.incomplete)


def _ranked(
    functions: Iterable[MergedFunction], pipes: Iterable[PipeReads], path: Iterable[PathFunction]
) -> list[Bottleneck]:
    measures: dict[_Key, dict[str, int]] = {}  # of functions, by the names of fields

    def of(layer: str, op: str, role: str, host: str) -> dict[str, int]:
        return measures.setdefault((layer, op, role, host), {})

    for one in functions:
        known = of(one.layer, one.op, one.role, one.host)
        for name in ("calls", "total", "self"):
            drawn = getattr(one.sample, name).total if one.sample else 0
            known[name] = getattr(one, name) + round(drawn)
        if f"{one.layer}.{one.op}" in WAITING_OPERATIONS:
            known["self_waiting"] = max(0, known["self"] - one.elsewhere)
    for pipe in pipes:
        known = of("java", "read", pipe.role, pipe.host)
        known["self_waiting"] = min(known.get("self", 0), pipe.time)
    for part in path:
        known = of(part.layer, part.op, part.role, part.host)
        known["critical"] = known.get("critical", 0) + part.time
        waiting = part.time if part.waiting else 0
        known["critical_waiting"] = known.get("critical_waiting", 0) + waiting
        known["critical_idle"] = known.get("critical_idle", 0) + part.idle
    names = ("layer", "op", "role", "host")
    return records(
        (dict(zip(names, key, strict=True)) | numbers for key, numbers in measures.items()),
        Bottleneck,
    )
