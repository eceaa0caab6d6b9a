"""How often each point was called, and what became of the points that a recorder brought."""

from __future__ import annotations

from collections import Counter

from ibis.expr import types as ir

from iostrata.analyse.engine import Engine
from iostrata.analyse.tables import PROCESSES, SUMS
from iostrata.records import Count, Record
from iostrata.schema.events import FIRST_USER_POINT
from iostrata.store.runs import Run


class PointCalls(Record, frozen=True):
    """Calls of a point in a process, nested ones too; points from FIRST_USER_POINT have numbers of
    the process.
    """

    proc: int | None
    point: int
    calls: Count


class WovenPoints(Record, frozen=True):
    """A process that took up points of users: `NUMBER STATE METHOD` of each, commas between."""

    proc: int
    user_points: str


class UserPoint(Record, frozen=True):
    """`method` is class#method and descriptor; `states` are of the processes that took it up."""

    layer: str
    op: str
    method: str
    calls: Count
    states: list[str]

    @property
    def trouble(self) -> str:
        """Why it was never called, empty when it was and is well."""
        if "faulted" in self.states:
            return "switched off by a fault"
        if self.calls:
            return ""
        if "woven" in self.states:
            return "never called"
        if "missing" in self.states:
            return "its class has no such method, or not of these types"
        return "no traced process loaded its class" if self.states else "no process took it up"


def point_calls() -> ir.Table:
    """Each `PointCalls`."""
    rows = SUMS.filter(SUMS.point.notnull())
    found = rows.group_by("proc", "point").agg(calls=rows["count"].sum().cast("int64"))
    return found.order_by("proc", "point")


def woven_points() -> ir.Table:
    """Each `WovenPoints`."""
    rows = PROCESSES.filter(PROCESSES.user_points != "", PROCESSES.proc.notnull())
    return rows.select("proc", "user_points").order_by("proc")


def calls_of_points(engine: Engine) -> Counter[int]:
    """The calls of each point of the agent's own, by its id."""
    calls: Counter[int] = Counter()
    for row in engine.records(point_calls, PointCalls):
        if row.point < FIRST_USER_POINT:
            calls[row.point] += row.calls
    return calls


def user_points(engine: Engine, run: Run) -> list[UserPoint]:
    """The points of the run's own files, in their order."""
    states: dict[str, set[str]] = {}
    methods: dict[tuple[int | None, int], str] = {}
    for process in engine.records(woven_points, WovenPoints):
        for entry in process.user_points.split(","):
            number, state, method = entry.split(" ", 2)
            states.setdefault(method, set()).add(state)
            methods[process.proc, int(number)] = method
    calls: Counter[str] = Counter()
    for row in engine.records(point_calls, PointCalls):
        calls[methods.get((row.proc, row.point), "")] += row.calls
    return [
        UserPoint(p.layer, p.op, p.method, calls[p.method], sorted(states.get(p.method, ())))
        for p in run.points
    ]
