"""What a request of a made trace consists of: calls within calls, in clients and servers.

Layers, operations and points are those of the point table; sizes and latencies are mixtures of
lognormal distributions whose medians are those of recorded MapReduce jobs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from iostrata.schema.events import FLAG

INNER, COVERED = FLAG["inner"], FLAG["double_counted"]

# Where a call runs: with the attempt, the NameNode, its host's NodeManager, or a DataNode that
# holds the first, second or third replica.
CLIENT, NAMENODE, NODEMANAGER, REPLICA = "client", "NameNode", "NodeManager", "DataNode"


@dataclass(frozen=True)
class Mixture:
    """Of a value: `share` of all around `high`, the others around `low`, each times e^(±spread)."""

    low: float
    high: float = 1.0
    share: float = 0.0
    spread: float = 0.5


@dataclass(frozen=True)
class Call:
    """One call of a request. `parent` is a place in its shape, -1 the task itself.

    `bytes`: `all` of the request's, `checksum` (1 of 128), or `none`; `own` is its latency without
    what it encloses, ns; `errors` the share of calls that fail.
    """

    layer: str
    op: str
    point: int
    category: str
    where: str
    parent: int
    own: Mixture
    bytes: str = "none"
    flags: int = 0
    replica: int = 0
    target: str = ""
    errors: float = 0.0


@dataclass(frozen=True)
class Shape:
    """The calls of a request, its bytes, and its share of the requests of maps and of reduces."""

    calls: tuple[Call, ...]
    size: Mixture
    of_maps: float
    of_reduces: float


_CPU = Mixture(900, 6_000, 0.05)
_CACHED = Mixture(2_500, 60_000, 0.04)
_DISK = Mixture(45_000, 9_000_000, 0.03, 0.8)
_WIRE = Mixture(30_000, 1_500_000, 0.05, 0.7)
_LOCK = Mixture(4_000, 900_000, 0.02, 0.9)


def _replica(replica: int, parent: int, first: int) -> Iterator[Call]:
    """The calls of one DataNode for a packet; `first` is the place of its first one."""
    given: dict[str, Any] = {"where": REPLICA, "replica": replica}
    node: dict[str, Any] = {"category": "blk", "target": "pool", **given}
    yield Call("hdfs", "receive_packet", 98, parent=parent, own=_WIRE, bytes="all", **node)
    yield Call("datanode", "receive_packet", 123, parent=first, own=_CPU, bytes="all", **node)
    inner: dict[str, Any] = {"parent": first + 1, "flags": INNER}
    yield Call("datanode", "write", 125, own=_CPU, bytes="all", **inner, **node)
    disk: dict[str, Any] = {"parent": first + 2, "own": _DISK, **given}
    yield Call("java", "write", 13, "blk", bytes="all", target="block", **disk)
    yield Call("java", "write", 13, "blk_meta", bytes="checksum", target="checksum", **disk)
    yield Call("datanode", "ack", 134, own=_WIRE, **inner, **node)


_IN: dict[str, Any] = {"category": "input", "where": CLIENT, "target": "input"}
_OUT: dict[str, Any] = {"category": "output", "where": CLIENT, "target": "output"}
_STORED: dict[str, Any] = {"where": REPLICA, "bytes": "all"}
_NAMED: dict[str, Any] = {"category": "namenode", "where": NAMENODE, "target": "output"}

READ = Shape(
    (Call("hdfs", "read", 91, parent=-1, own=_CACHED, bytes="all", **_IN),),
    Mixture(110, 60_000, 0.02, 0.9), 0.70, 0.0,
)  # fmt: skip
READ_BLOCK = Shape(
    (
        Call("hdfs", "read", 91, parent=-1, own=_CACHED, bytes="all", **_IN),
        Call("hdfs", "receive_packet", 97, parent=0, own=_WIRE, bytes="all", flags=INNER, **_IN),
        Call("datanode", "send_packet", 132, "blk", parent=1, own=_CPU, target="pool", **_STORED),
        Call("datanode", "disk_transfer", 130, "blk", parent=2, own=_CPU, flags=INNER,
             target="pool", **_STORED),
        Call("java", "transfer", 37, "blk", parent=3, own=_DISK, target="block", **_STORED),
    ),
    Mixture(64_000, 8_000, 0.2, 0.3), 0.08, 0.0,
)  # fmt: skip
WRITE = Shape(
    (
        Call("hdfs", "send_packet", 83, parent=-1, own=_WIRE, bytes="all", **_OUT),
        Call("hdfs", "back_off", 103, parent=0, own=_CPU, flags=INNER, **_OUT),
        *_replica(0, 0, 2),
        *_replica(1, 3, 8),
        *_replica(2, 9, 14),
    ),
    Mixture(64_500, 12_000, 0.1, 0.2), 0.02, 0.12,
)  # fmt: skip
RPC = Shape(
    (
        Call("rpc", "call", 110, "rpc", CLIENT, -1, _WIRE, target="address", errors=0.01),
        Call("rpc", "handle", 111, "rpc", NAMENODE, 0, _CPU, target="address"),
        Call("namenode", "stat", 304, parent=1, own=_CPU, **_NAMED),
        Call("namenode", "read_lock", 310, parent=2, own=_LOCK, flags=INNER, **_NAMED),
        Call("namenode", "read_unlock", 312, parent=2, own=_CPU, flags=INNER, **_NAMED),
    ),
    Mixture(1), 0.04, 0.08,
)  # fmt: skip
SPILL = Shape(
    (
        Call("fs", "write", 62, "spill", CLIENT, -1, _CPU, bytes="all", target="spill"),
        Call("fs", "write", 61, "spill", CLIENT, 0, _CPU, bytes="all", target="spill",
             flags=INNER | COVERED),
        Call("java", "write", 13, "spill", CLIENT, 1, _DISK, bytes="all", target="spill"),
    ),
    Mixture(4_096, 130_000, 0.3, 0.4), 0.16, 0.20,
)  # fmt: skip
SHUFFLE = Shape(
    (
        Call("task", "copy", 233, "shuffle", CLIENT, -1, _CPU, bytes="all", target="spill"),
        Call("java", "receive", 46, "socket", CLIENT, 0, _WIRE, bytes="all", target="address"),
        Call("task", "serve_part", 252, "spill", NODEMANAGER, 0, _CPU, bytes="all",
             target="spill"),
        Call("java", "transfer", 37, "spill", NODEMANAGER, 2, _DISK, bytes="all",
             target="spill"),
    ),
    Mixture(90_000, 2_000_000, 0.1, 0.8), 0.0, 0.60,
)  # fmt: skip

SHAPES = (READ, READ_BLOCK, WRITE, RPC, SPILL, SHUFFLE)
# The call that everything in an attempt is within, and what is only ever summed in it.
TASK = {"map": 220, "reduce": 221}
RECORDS = {"map": 200, "reduce": 207}
