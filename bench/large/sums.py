"""Rows of kind `sum` of a slice: what each thread did in each second, by call and size class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bench.large.known import RECORD
from bench.large.slices import CALLS, Longs

SECOND = 10**9
RECORD_CALL = len(CALLS) + 1
TIMED = 64  # of so many records one is timed


@dataclass
class Sums:
    """Parallel arrays, one element a row."""

    thread: Longs
    call: Longs
    slot: Longs
    size_class: Longs
    start: Longs
    dur: Longs
    count: Longs
    bytes: Longs
    errors: Longs
    timed: Longs
    timed_dur: Longs
    weight: Longs
    min: Longs
    max: Longs


def per_row(calls: dict[str, Longs], begin: int, ends: Longs, slots: int, records: Longs) -> Sums:
    """All calls summed; `records` are how many each slot read: known by their sums only."""
    end = calls["start"] + calls["dur"]
    second = (end - begin) // SECOND
    classes = np.where(calls["bytes"] > 0, np.frexp(calls["bytes"].astype(np.float64))[1], 0)
    key = (calls["thread"] * 64 + calls["call"]) * 64 + classes
    key = key * (int(second.max()) + 1) + second
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    head = order[first]

    def total(values: Longs) -> Longs:
        return np.add.reduceat(values[order], first)

    dur = calls["dur"][order]
    count = np.diff(np.append(first, len(order)))
    start = begin + second[head] * SECOND
    last = np.maximum.reduceat(end[order], first)
    summed = Sums(
        thread=calls["thread"][head],
        call=calls["call"][head],
        slot=calls["slot"][head],
        size_class=classes[head].astype(np.int64),
        start=start,
        dur=last - start,
        count=count,
        bytes=total(calls["bytes"]),
        errors=total(calls["failed"]),
        timed=count,
        timed_dur=total(calls["dur"]),
        weight=count,
        min=np.minimum.reduceat(dur, first),
        max=np.maximum.reduceat(dur, first),
    )
    return _joined(summed, _records(begin, ends, slots, records))


def _records(begin: int, ends: Longs, slots: int, count: Longs) -> Sums:
    each = np.arange(slots)
    none = np.zeros(slots, np.int64)
    timed = count // TIMED + 1
    return Sums(
        thread=each,
        call=none + RECORD_CALL,
        slot=each,
        size_class=none + int(RECORD).bit_length(),
        start=none + begin,
        dur=np.minimum(ends - begin, SECOND),
        count=count,
        bytes=count * RECORD,
        errors=none,
        timed=timed,
        timed_dur=timed * 900,
        weight=count // TIMED * TIMED + 1,
        min=none + 200,
        max=none + 90_000,
    )


def _joined(first: Sums, second: Sums) -> Sums:
    return Sums(
        **{
            name: np.concatenate([getattr(first, name), getattr(second, name)])
            for name in Sums.__annotations__
        }
    )
