"""A stretch of a made trace as arrays: which calls ran where, when, how long and why.

Arrays are parallel, one element a call. Times are ns since the epoch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bench.large.shapes import CLIENT, NAMENODE, NODEMANAGER, SHAPES, Call, Mixture, Shape
from numpy.typing import NDArray

Longs = NDArray[np.int64]
CALLS = tuple(call for shape in SHAPES for call in shape.calls)
FIRST = np.cumsum([0, *(len(shape.calls) for shape in SHAPES)])  # of each shape in CALLS
FILES = 64  # files of a job
BLOCKS = 16  # blocks of a file


@dataclass(frozen=True)
class Cluster:
    """Threads by number: `slots` attempts, then per host and slot a DataNode's, a NodeManager's,
    then the NameNode's for each slot."""

    hosts: int
    slots: int

    @property
    def threads(self) -> int:
        return self.slots * (2 + 2 * self.hosts)

    def host(self, thread: Longs) -> Longs:
        """Number of the host of each thread; the NameNode's is the first."""
        server = (thread - self.slots) // self.slots
        host = np.where(server < 2 * self.hosts, server % self.hosts, 0)
        return np.where(thread < self.slots, thread % self.hosts, host)

    def thread(self, call: Call, slot: Longs, at: Longs) -> Longs:
        """Thread that serves a call of the attempt in `slot`; `at`: the host of the first replica.

        A server has one thread for each client, so that calls of a thread do not overlap.
        """
        if call.where == CLIENT:
            return slot
        if call.where == NAMENODE:
            return (1 + 2 * self.hosts) * self.slots + slot
        of = self.hosts if call.where == NODEMANAGER else 0
        return (1 + of + (at + call.replica) % self.hosts) * self.slots + slot


@dataclass
class Slice:
    """Calls of one attempt in each slot, without the task calls around them."""

    call: Longs  # place in CALLS
    slot: Longs
    thread: Longs
    start: Longs
    dur: Longs
    bytes: Longs
    failed: Longs
    file: Longs  # of its job, and block of the file
    block: Longs
    parent: Longs  # place of the enclosing call in these arrays, -1 the task
    ends: Longs  # when the attempt of each slot ends


def draw(random: np.random.Generator, mixture: Mixture, n: int) -> Longs:
    """`n` values of a mixture, at least 1."""
    middle = np.where(random.random(n, np.float32) < mixture.share, mixture.high, mixture.low)
    spread = np.exp(random.standard_normal(n, np.float32) * np.float32(mixture.spread))
    return np.asarray(np.maximum(1, middle * spread), np.int64)


def requests(random: np.random.Generator, maps: NDArray[np.bool_], calls: int) -> Longs:
    """Shapes of the requests of all slots, one row a slot, that make about so many calls."""
    sizes = np.array([len(shape.calls) for shape in SHAPES])
    shares = {True: [s.of_maps for s in SHAPES], False: [s.of_reduces for s in SHAPES]}
    mean = np.mean([np.dot(sizes, shares[bool(is_map)]) for is_map in maps])
    each = max(1, int(calls / mean / len(maps)))
    chosen = np.empty((len(maps), each), np.int64)
    for is_map, share in shares.items():
        rows = maps == is_map
        edges = np.cumsum(share)[:-1]
        chosen[rows] = np.searchsorted(edges, random.random((int(rows.sum()), each)), "right")
    return chosen


def exactly(chosen: Longs, calls: int) -> tuple[Longs, Longs]:
    """Slots and shapes of as many requests as make exactly so many calls, in order of slots."""
    sizes = np.array([len(shape.calls) for shape in SHAPES])
    slot = np.tile(np.arange(len(chosen)), chosen.shape[1])  # slots in turn
    shape = chosen.T.ravel()
    made = np.cumsum(sizes[shape])
    fits = int(np.searchsorted(made, calls, "right"))
    left = calls - (int(made[fits - 1]) if fits else 0)
    slot = np.concatenate([slot[:fits], np.arange(left) % len(chosen)])
    shape = np.concatenate([shape[:fits], np.zeros(left, np.int64)])  # READ is one call
    order = np.argsort(slot, kind="stable")
    return slot[order], shape[order]


def make(
    random: np.random.Generator, cluster: Cluster, maps: NDArray[np.bool_], begin: int, calls: int
) -> Slice:
    """A slice of exactly so many calls; `maps`: which slots run a map, the others a reduce."""
    slot, shape = exactly(requests(random, maps, calls), calls)
    timed = {place: _Timed(random, each, shape == place) for place, each in enumerate(SHAPES)}
    took = np.empty(len(shape), np.int64)
    for each in timed.values():
        took[each.places] = each.durs[0]
    gaps = draw(random, Mixture(3_000, 400_000, 0.02, 0.8), len(shape))
    until = np.cumsum(took + gaps)
    first = np.searchsorted(slot, np.arange(len(maps)))
    before = np.where(first > 0, until[first - 1], 0)
    starts = begin + until - took - before[slot]
    last = np.append(first[1:], len(shape)) - 1
    ends = np.where(last >= first, begin + until[last] - before, begin)
    return _joined(random, cluster, timed, (slot, starts, ends), begin)


class _Timed:
    """Requests of one shape: which they are, and the latency of each of their calls."""

    def __init__(self, random: np.random.Generator, shape: Shape, chosen: NDArray[np.bool_]):
        self.shape = shape
        self.places = np.flatnonzero(chosen)
        self.size = draw(random, shape.size, len(self.places))
        self.own = [draw(random, call.own, len(self.places)) for call in shape.calls]
        self.durs = [own.copy() for own in self.own]
        for place in range(len(shape.calls) - 1, 0, -1):  # what encloses comes first
            self.durs[shape.calls[place].parent] += self.durs[place]


def _joined(
    random: np.random.Generator,
    cluster: Cluster,
    timed: dict[int, _Timed],
    requests: tuple[Longs, Longs, Longs],
    begin: int,
) -> Slice:
    slots, starts, ends = requests
    fields: dict[str, list[Longs]] = {name: [] for name in Slice.__annotations__ if name != "ends"}
    total = 0
    for number, each in timed.items():
        slot, n = slots[each.places], len(each.places)
        file = (starts[each.places] - begin) // 50_000_000 % FILES
        block = random.integers(0, BLOCKS, n)
        at = (file + block) % cluster.hosts
        began: list[Longs] = []
        inside: list[Longs] = []
        for place, call in enumerate(each.shape.calls):
            parent = call.parent
            start = starts[each.places] if parent < 0 else began[parent] + inside[parent]
            if parent >= 0:
                inside[parent] = inside[parent] + each.durs[place]
            began.append(start)
            inside.append(each.own[place] // 2)
            values = {
                "call": np.full(n, FIRST[number] + place),
                "slot": slot,
                "thread": cluster.thread(call, slot, at),
                "start": start,
                "dur": each.durs[place],
                "bytes": _bytes(call, each.size),
                "failed": (random.random(n) < call.errors).astype(np.int64),
                "file": file,
                "block": block,
                "parent": np.full(n, -1) if parent < 0 else total + parent * n + np.arange(n),
            }
            for name, value in values.items():
                fields[name].append(value)
        total += n * len(each.shape.calls)
    return Slice(**{name: np.concatenate(parts) for name, parts in fields.items()}, ends=ends)


def _bytes(call: Call, size: Longs) -> Longs:
    if call.bytes == "all":
        return size
    return (size + 127) // 128 if call.bytes == "checksum" else np.zeros_like(size)
