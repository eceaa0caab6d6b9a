"""Runs of a minute made by hand, with what makes a rule speak."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from iostrata.schema.events import FLAG
from iostrata.store.tests.made import SECOND, START, process, row_of_call, row_of_sum

MINUTE = 60 * SECOND
MS = SECOND // 1000
JOB = "job_1_0001"
# A program that ran the whole minute.
PROGRAM = process("client", 1, proc=1, host="node", start=START, end=START + MINUTE, cpu=SECOND)


@dataclass(frozen=True)
class Case:
    """What a run did, and what its first finding must be."""

    rule: str
    seen: str
    share: float
    events: list[dict[str, Any]]
    processes: list[dict[str, Any]] = field(default_factory=list)


def did(
    layer: str, op: str, calls: int, each: int, role: str = "client", **more: Any
) -> dict[str, Any]:
    """A sum of calls that took `each` ns, the quickest as well, within another of their layer."""
    given = {"timed_dur": calls * each, "min": each, "max": each, "proc": 1, "host": "node"}
    given |= {"flags": FLAG["inner"]}
    return row_of_sum(layer, op, count=calls, role=role, **{**given, **more})


def call(
    layer: str, op: str, target: str, each: int, role: str = "client", **more: Any
) -> dict[str, Any]:
    """A call that was recorded individually."""
    given = {"start": START, "dur": each, "proc": 1, "host": "node"}
    return row_of_call(layer, op, target, role=role, **{**given, **more})


def link(layer: str, op: str, waited: int) -> dict[str, Any]:
    """Work that waited for its thread, at the NameNode."""
    return {"kind": "link", "layer": layer, "op": op, "dur": waited, "role": "NameNode", "proc": 9}


def attempt(role: str, number: int, begin: float, end: float, **more: Any) -> dict[str, Any]:
    """An attempt of a task, `begin` and `end` in seconds of the run."""
    job = more.pop("job", JOB)
    name = f"{job.replace('job', 'attempt')}_{role[0]}_{number:06}_{more.pop('again', 0)}"
    times = {"start": START + int(begin * SECOND), "end": START + int(end * SECOND)}
    given = {"proc": 100 + number + 50 * (role == "reduce"), "host": "node", "cpu": SECOND}
    return process(role, 10 + number, job=job, task=name, **{**given, **times, **more})


def attempts(role: str, ends: list[float], begin: float = 0) -> list[dict[str, Any]]:
    """Attempts that all begin together."""
    return [attempt(role, number, begin, end) for number, end in enumerate(ends)]
