"""Which resource programs collide in, and which layer of each of them waits for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from iostrata.analyse.parts import SHARED, PartOperation
from iostrata.schema.names import layer_order
from iostrata.schema.roles import STORAGE_CLIENTS
from iostrata_lab.mix.counters import Use
from iostrata_lab.mix.result import GrownOperation, SharedResource

# A resource is what they collide in if together it is this busy, they would use this much of it if
# nobody waited, and each alone uses this part at least.
BUSY, DEMAND, PART = 0.7, 0.9, 0.03
EXPLAINS = 0.5  # of the largest growth of a program
MOST = 12  # operations of a program
# Times of these are those of whole tasks and requests, waiting for others included.
_ENCLOSING = ("task", "rpc")

Key = tuple[str, str, str]  # role, layer, operation


class Timed(NamedTuple):
    """Calls of an operation, and the ns that they took."""

    calls: int
    time: int


NONE = Timed(0, 0)
Times = Mapping[Key, Timed]  # of one part of a run


def shared(
    alone: Mapping[str, Sequence[Sequence[Use]]], together: Sequence[Sequence[Use]]
) -> list[SharedResource]:
    """Uses of all trials by program, and of those together; what is used most first."""
    places = dict.fromkeys((use.kind, use.name) for uses in together for use in uses)
    found = [
        SharedResource(
            kind,
            name,
            {program: _mean(uses, kind, name) for program, uses in alone.items()},
            _mean(together, kind, name),
        )
        for kind, name in places
    ]
    return sorted(found, key=lambda one: -(one.together or 0.0))


def _mean(trials: Sequence[Sequence[Use]], kind: str, name: str) -> float | None:
    shares = [use.share for uses in trials for use in uses if (use.kind, use.name) == (kind, name)]
    known = [share for share in shares if share is not None]
    return round(fmean(known), 4) if known else None


def collision(resources: Sequence[SharedResource]) -> SharedResource | None:
    """The one that all of them want most, if it is used up."""
    full = [
        one
        for one in resources
        if (one.together or 0.0) >= BUSY
        and one.demand >= DEMAND
        and all((share or 0.0) >= PART for share in one.alone.values())
    ]
    return max(full, key=lambda one: one.demand, default=None)


def times(rows: Iterable[PartOperation]) -> dict[str, Times]:
    """Of a run, by part."""
    found: dict[str, dict[Key, Timed]] = {}
    for row in rows:
        of_part = found.setdefault(row.part, {})
        of_part[row.role, row.layer, row.op] = Timed(row.calls, row.time)
    return dict(found)


def grown(program: str, alone: Sequence[Times], together: Sequence[Times]) -> list[GrownOperation]:
    """What takes longer together, the most first."""
    keys = {key for one in (*alone, *together) for key in one}
    found = [
        GrownOperation(
            program,
            *key,
            alone=round(fmean(one.get(key, NONE).time for one in alone)),
            together=round(fmean(one.get(key, NONE).time for one in together)),
        )
        for key in sorted(keys)
        if not _only_waits(program, *key)
    ]
    return sorted((one for one in found if one.grown > 0), key=lambda one: -one.grown)[:MOST]


def _only_waits(program: str, role: str, layer: str, op: str) -> bool:
    """Its time is that of others, or that of a server without a request."""
    is_idle = role in STORAGE_CLIENTS or op == "wait"
    return layer in _ENCLOSING or (program == SHARED and is_idle)


def as_alone(alone: Sequence[Times], together: Times) -> Times:
    """What the calls of a trial together would take if each took as long as in those `alone`."""
    found = {}
    for key, timed in together.items():
        known = [one[key] for one in alone if key in one]
        calls, time = sum(one.calls for one in known), sum(one.time for one in known)
        # of what was never called alone nobody knows
        found[key] = Timed(timed.calls, round(time / calls * timed.calls)) if calls else timed
    return found


def layer(operations: Sequence[GrownOperation]) -> GrownOperation | None:
    """The deepest of those operations that explain most of the growth of a program."""
    if not operations:
        return None
    most = operations[0].grown
    explaining = [one for one in operations if one.grown >= EXPLAINS * most]
    return max(explaining, key=lambda one: (layer_order(one.layer), one.grown))


def layers(operations: Sequence[GrownOperation]) -> dict[str, GrownOperation]:
    """Likewise of each program, and of the servers."""
    found = {}
    for program in dict.fromkeys(one.program for one in operations):
        deepest = layer([one for one in operations if one.program == program])
        if deepest is not None:
            found[program] = deepest
    return found
