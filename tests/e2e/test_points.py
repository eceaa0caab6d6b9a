"""Each declared point, fired on purpose: what is listed as traced is traced."""

from __future__ import annotations

import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import Between, Count, Iostrata, Verifies
from tests.e2e.jdks import JDKS_AND_8, java_home
from tests.e2e.labs import TWO, Labs
from tests.e2e.truth import Run

from iostrata_lab import clusters

HERE = Path(__file__).parent

# What one call on each file moves, and the operation it is counted under.
FILES = {
    "in.byte": ("read", 1),
    "in.array": ("read", 100),
    "in.range": ("read", 50),
    "in.all": ("read", 100),
    "in.n": ("read", 60),
    "out.byte": ("write", 1),
    "out.array": ("write", 100),
    "out.range": ("write", 40),
    "raf.read.byte": ("read", 1),
    "raf.read.array": ("read", 100),
    "raf.read.range": ("read", 70),
    "raf.write.byte": ("write", 1),
    "raf.write.array": ("write", 100),
    "raf.write.range": ("write", 30),
    "raf.write.text": ("write", 12),
    "ch.read": ("read", 20),
    "ch.read.at": ("read", 10),
    "ch.read.scatter": ("read", 25),
    "ch.to": ("transfer", 55),
    "ch.write": ("write", 20),
    "ch.write.at": ("write", 20),
    "ch.write.gather": ("write", 25),
    "ch.from": ("write", 45),
    "ch.force": ("sync", 0),
    "ch.map": ("map", 80),
    "async.read": ("read", 30),
    "async.read.end": ("read", 0),
    "async.read.handler": ("read", 10),
    "async.write": ("write", 30),
    "async.force": ("sync", 0),
}
SINCE_9 = ("in.all", "in.n")
SINCE_22 = {"ch.map.arena": ("map", 50)}
# Each is called once, but for writes to channels: each file begins as one of 100 bytes, written so.
STREAMS, CHANNELS = {*range(1, 7), *range(11, 14)}, {15, 16, *range(21, 30), *range(31, 40)}
ONCE = STREAMS | CHANNELS - {34} | {*range(55, 59)}
# They are only summed, each on a file of its own; what finds no file is no call.
TAKEN_AWAY = [
    *(("delete", "delete.io"), ("delete", "delete.nio")),
    *(("rename", "rename.io"), ("rename", "rename.nio")),
]


@pytest.mark.one_of("version")
@pytest.mark.parametrize("version", JDKS_AND_8)
def test_every_file_call(
    version: str, tmp_path: Path, program: Path, iostrata: Iostrata, verifies: Verifies
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    java = str(java_home(version) / "bin/java")
    command = (java, "-cp", str(program), "EveryFileCall", str(folder))
    assert iostrata("record", "--run", "r", "--", *command).returncode == 0
    run = Run(tmp_path / "store", "r")
    found = {
        Path(target).name: (op, count, total)
        for target, op, count, total in run.rows(
            "SELECT target, op, count(*), sum(bytes)::BIGINT FROM events WHERE kind = 'call' "
            f"AND layer = 'java' AND (flags & 1) = 0 AND target LIKE '{folder}/%' "
            "AND (target LIKE '%/out.%' OR op IN ('read', 'transfer', 'sync', 'map') "
            "OR target LIKE '%write%' OR target LIKE '%ch.from') "
            # making the file to be read or overwritten is a write of 100 through a channel
            "AND NOT (op = 'write' AND point = 34 AND bytes = 100) GROUP BY ALL"
        )
    }
    newest, oldest = version == "25", version == "8"
    expected = FILES | SINCE_22 if newest else FILES
    if oldest:
        expected = {name: what for name, what in FILES.items() if name not in SINCE_9}
    else:
        transfer = found.pop("in.transfer")  # the stream's own method from JDK 20 on
        assert transfer[2] == 100
    assert found == {name: (op, 1, size) for name, (op, size) in expected.items()}
    taken = run.rows(
        "SELECT op, target FROM events WHERE kind = 'sum' AND layer = 'java' "
        f"AND op IN ('delete', 'rename') AND target LIKE '{folder}/%' AND count = 1"
    )
    assert sorted((op, Path(target).name) for op, target in taken) == TAKEN_AWAY
    if newest:
        files = sum(not name.startswith("out.") for name in ("in.transfer", *expected))
        counts = dict.fromkeys(ONCE, 1) | {14: 3, 34: files + 1 + len(TAKEN_AWAY)}
        verifies(run, counts, where="category = 'file' AND (flags & 1) = 0")


FILE, MORE, LARGE = 100_000, 1_000, 20 << 20  # of EveryHdfsCall.java
PACKET = 126 * 512  # bytes of data: dfs.client-write-packet-size less headers and checksums
CACHE_LAG = 8 << 20  # BlockReceiver#CACHE_DROP_LAG_BYTES
REPLICAS = 2
# hsync has sent a chunk in part, which is sent again with what follows; the disk has it already.
RESENT = FILE % 512
PACKETS = (
    (-(-FILE // PACKET) + 1 + 1)  # data, the chunk again, the empty last
    + (1 + 1 + 1)  # what fills the last chunk of before, the rest, the empty last
    + (-(-LARGE // PACKET) + 1)
)

# Packets of the blocks that are read: both of the file in order, one at each of three places, and
# an empty last one each. A reader in order that stops may leave the last two on the way.
SENT = (2 + 1) + 3 * (1 + 1)

# What EveryHdfsCall does once each is 1.
CLIENT: dict[int, Count] = {
    60: 1,  # FileSystem#createFileSystem
    61: 1,
    62: 3,
    70: 2,
    71: 1,
    72: 3,  # two of them within 70
    73: 1,
    74: 1,
    75: 1,
    76: 1,
    77: 1,
    78: 1,
    79: 1,
    80: 1,
    81: 1,  # open; one by handle names no file, and nothing is read from it
    82: 5,  # file, appended, large, other, favored
    83: PACKETS,
    84: 1,  # to append
    86: 1,
    90: 1,
    91: 2,  # the byte is read through it
    92: 2,  # the pool too
    93: 1,
    94: 2,  # readFully too
    95: 1,
    96: 1,
    97: Between(5, SENT),  # a packet at least for each place that was read
    99: 5,
    100: 3,  # a block each: file, appended, large
    101: 3,
    102: Between(5, 6),  # each close waits, and hsync unless the acks are there already
    103: PACKETS,
    107: 1,
    108: 1,
    109: 1,
}
BLOCKS = 3 * REPLICAS
WRITTEN = REPLICAS * PACKETS - BLOCKS - REPLICAS  # not the empty last ones, not the chunk again
DATANODES: dict[int, Count] = {
    98: REPLICAS * PACKETS,
    104: PACKETS,  # the first to the second
    120: 4,  # one in order, three at places
    121: BLOCKS,
    122: BLOCKS,
    123: REPLICAS * PACKETS,
    124: WRITTEN,
    125: WRITTEN,
    126: Between(WRITTEN, REPLICAS * PACKETS),
    127: REPLICAS * 2,  # hsync: the block's file and its checksums
    128: REPLICAS * (LARGE // CACHE_LAG),
    129: REPLICAS,
    130: Between(SENT - 2, SENT),
    131: 4,
    132: Between(SENT - 2, SENT),
    133: BLOCKS,
    134: REPLICAS * PACKETS,
    135: BLOCKS,
}
# How often it is asked again is a matter of time, but no oftener than there are RPCs.
NAMENODE: dict[int, Count] = {
    300: Between(2),  # open, and what waits for the replicas before it appends
    301: 4,
    302: Between(2),  # file, large; asked again while the block before is not reported
    303: Between(5),  # asked again likewise
    304: 2,  # getFileStatus, and to open by handle
    305: 2,
    306: 1,
    307: 1,
    308: 1,
    309: 1,
    310: Between(5),  # locate, stat, list
    311: Between(15),  # what changes names and blocks, as counted above
    314: Between(15),
}
# On nobody's behalf, while the run recorded: its own blocks were reported on demand.
BACKGROUND: dict[int, Count] = {
    137: Between(REPLICAS),
    138: Between(1),  # an incremental report goes with every heartbeat
    139: Between(1),  # one a second
    317: Between(1),  # one sync for the edits that waited
    318: Between(1),
}


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Cluster:
    return labs.at(*TWO)


@dataclass(frozen=True)
class Recorded:
    """The run of EveryHdfsCall, and how many RPCs its process made by Hadoop's own numbers."""

    run: Run
    rpcs: int


@pytest.fixture(scope="module")
def every(cluster: Cluster) -> Recorded:
    classes = cluster.folder / "classes"
    path = clusters.find(cluster.name).environment()["CLASSPATH"]
    source = str(HERE / "EveryHdfsCall.java")
    subprocess.run(["javac", "-cp", path, "-d", str(classes), source], check=True)
    said = cluster.record("every", "java", "-cp", f"{classes}:{path}", "EveryHdfsCall", "/every")
    rpcs = re.search(r"^RPC calls: (\d+)$", said, re.M)
    assert rpcs, said
    return Recorded(cluster.run("every"), int(rpcs[1]))


@pytest.fixture(scope="module")
def run(every: Recorded) -> Run:
    return every.run


def calls(run: Run, point: int, role: str) -> int:
    query = "SELECT coalesce(sum(count), 0)::BIGINT FROM events WHERE kind = 'sum' AND point = ?"
    return int(run.one(f"{query} AND role = ?", point, role))


@pytest.mark.cluster
def test_every_hdfs_call(every: Recorded, verifies: Verifies) -> None:
    run = every.run
    verifies(run, CLIENT, "role = 'client'")
    verifies(run, DATANODES, "role = 'DataNode'")
    asked = every.rpcs - REPLICAS  # DataNodes are asked to report their blocks
    bounded = {
        point: Between(count.least, asked) if isinstance(count, Between) else count
        for point, count in NAMENODE.items()
    }
    verifies(run, bounded, "role = 'NameNode'")
    # Each RPC is sent, handled, served and answered once.
    verifies(run, {110: every.rpcs}, "role = 'client'")
    for role, count in {"DataNode": REPLICAS, "NameNode": asked}.items():
        verifies(run, {111: count, 112: count, 113: count}, f"role = '{role}'")
    # Whatever is locked is unlocked; each edit is synced.
    locks = {312: calls(run, 310, "NameNode"), 313: calls(run, 311, "NameNode")}
    edits = calls(run, 314, "NameNode")
    verifies(run, {**locks, 315: edits, 316: edits}, "role = 'NameNode'")
    verifies(run, {190: 1})  # the root of the client; daemons' own are the background's


@pytest.mark.cluster
def test_every_hdfs_call_counts_its_bytes(run: Run) -> None:
    read = run.one(
        "SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'hdfs' "
        "AND op = 'read' AND (flags & 32) = 0"
    )
    pooled = run.one("SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND point = 95")
    assert read == 1 + 1000 + 2000 + 3000 + 4000 + 5000 + pooled
    assert 0 < pooled <= 600
    sums = {
        (layer, op): total
        for layer, op, total in run.rows(
            "SELECT layer, op, sum(bytes)::BIGINT FROM events WHERE kind = 'sum' "
            "AND (flags & 32) = 0 AND coalesce(category, '') <> 'file' GROUP BY ALL"
        )
    }
    written = FILE + MORE + LARGE
    assert sums["fs", "write"] == written
    assert sums["hdfs", "send_packet"] == written + RESENT
    assert sums["hdfs", "mirror_packet"] == written + RESENT
    assert sums["datanode", "receive_packet"] == REPLICAS * (written + RESENT)
    assert sums["datanode", "write"] == REPLICAS * written


@pytest.mark.cluster
def test_what_daemons_do_on_their_own_is_in_the_background(
    cluster: Cluster, run: Run, verifies: Verifies
) -> None:
    deadline = time.monotonic() + 180  # until the collector has published it
    while calls(background := cluster.run("_background"), 137, "DataNode") < REPLICAS:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    verifies(background, BACKGROUND)
