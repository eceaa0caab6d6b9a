"""TestDFSIO on a real cluster: what we traced against what Hadoop counted, per attempt."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest
from tests.e2e import truth
from tests.e2e.cluster import Cluster
from tests.e2e.labs import TWO, Labs
from tests.e2e.trees import Tree

from iostrata.record.collector import collector_of
from iostrata_lab.recording import collector_directory

pytestmark = pytest.mark.cluster

REPLICAS = 2
FILES = 2
SIZE = 128  # MiB: two blocks a file, and staging below 1 % of the bytes
BLOCKS = f"-Ddfs.blocksize={SIZE // 2 << 20}"

# Every point whose bytes one of the rules reads: the job that fires it, and the rules that must
# fail when it is off. Not here: what TestDFSIO does not call, such as
# FSDataOutputStream$PositionCache#write(int).
MUTATIONS = {
    "DFSInputStream#read([BII)I": ("read", {"HDFS_BYTES_READ"}),
    "FSDataOutputStream$PositionCache#write([BII)V": ("write", {"HDFS_BYTES_WRITTEN"}),
    "BlockReceiver#receivePacket": ("write", {"packets received"}),
    "ReplicaOutputStreams#writeDataToDisk": ("write", {"written to disk"}),
    "FileOutputStream#write([BII)V": ("write", {"block files", "block metadata"}),
    "BlockSender#sendPacket": ("read", {"packets sent"}),
    "FileChannelImpl#transferTo": ("read", {"block files"}),
}


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Cluster:
    return labs.at(*TWO)


def write_problems(cluster: Cluster, run_name: str, job: str) -> list[str]:
    run = cluster.run(run_name)
    attempts = cluster.attempts(job)
    blocks = cluster.blocks("/benchmarks/TestDFSIO")
    return list(
        chain(
            truth.loss_problems(run),
            truth.client_problems(run, attempts),
            truth.datanode_write_problems(run, attempts, REPLICAS),
            truth.meta_problems(run, attempts, truth.blocks_by_attempt(run, blocks)),
        )
    )


def read_problems(cluster: Cluster, run_name: str, job: str) -> list[str]:
    run = cluster.run(run_name)
    attempts = cluster.attempts(job)
    return list(
        chain(
            truth.loss_problems(run),
            truth.client_problems(run, attempts),
            truth.datanode_read_problems(run, attempts),
        )
    )


@pytest.fixture(scope="module")
def written(cluster: Cluster) -> str:
    return cluster.dfsio("write", "write", FILES, f"{SIZE}MB", more=(BLOCKS,))


@pytest.fixture(scope="module")
def read(cluster: Cluster, written: str) -> str:
    assert written
    return cluster.dfsio("read", "read", FILES, f"{SIZE}MB")


def test_write_adds_up(cluster: Cluster, written: str) -> None:
    attempts = cluster.attempts(written)
    assert len(attempts) == FILES + 1  # one map per file, one reduce
    assert sum(a.written for a in attempts) > FILES * SIZE << 20
    assert write_problems(cluster, "write", written) == []


def test_read_adds_up(cluster: Cluster, read: str) -> None:
    attempts = cluster.attempts(read)
    assert sum(a.read for a in attempts) > FILES * SIZE << 20
    assert read_problems(cluster, "read", read) == []


@pytest.mark.parametrize("run_name", ["write", "read"])
def test_datanode_bytes_have_a_block_and_a_client(
    cluster: Cluster, written: str, read: str, run_name: str
) -> None:
    """At least 99 % of the bytes a DataNode moved, background included, are somebody's."""
    run = cluster.run(run_name)
    op = "'write', 'receive_packet'" if run_name == "write" else "'send_packet'"
    where = f"kind = 'call' AND layer = 'datanode' AND op IN ({op})"
    mine = run.one(
        f"SELECT coalesce(sum(bytes), 0)::BIGINT FROM events WHERE {where} AND block >= 0 "
        "AND task IS NOT NULL"
    )
    all_of_run = run.one(f"SELECT coalesce(sum(bytes), 0)::BIGINT FROM events WHERE {where}")
    background = truth.Run(cluster.store, "_background")
    window = run.rows("SELECT min(start), max(start) FROM events WHERE kind = 'call'")[0]
    nobody = background.one(
        "SELECT coalesce(sum(bytes), 0)::BIGINT FROM events "
        f"WHERE {where} AND start BETWEEN ? AND ?",
        *window,
    )
    share = mine / (all_of_run + nobody)
    print(f"{run_name}: {mine} B of {all_of_run + nobody} B ({share:.2%}) have block and attempt")
    assert share >= 0.99


@pytest.mark.parametrize("run_name", ["write", "read"])
def test_datanode_bytes_join_a_client_span(
    cluster: Cluster, written: str, read: str, run_name: str
) -> None:
    """At least 99 % of what DataNodes moved leads, call by call, to a client's process."""
    tree = Tree(cluster.run(run_name))
    op = "receive_packet" if run_name == "write" else "send_packet"
    moved: dict[str, int] = {}
    for call in tree.calls:
        if call.layer == "datanode" and call.op == op:
            role = tree.origin(call)
            moved[role] = moved.get(role, 0) + call.bytes
    print(f"{run_name}: {moved}")
    servers = moved.get("DataNode", 0) + moved.get("NameNode", 0)
    broken = moved.get("", 0)
    assert servers + broken <= 0.01 * sum(moved.values())
    assert moved["map"] >= FILES * SIZE << 20
    orphans = cluster.summary(run_name)["orphans"]
    assert [row for row in orphans if row["layer"] == "datanode"] == []


def test_everything_was_traced(cluster: Cluster, written: str) -> None:
    done = cluster.iostrata("summary", "write", "--full")
    first = done.stdout.splitlines()[0]
    traced, total = first.split()[1].split("/")
    assert traced == total, first
    by_role = "SELECT role, count(*) FROM processes WHERE traced GROUP BY role"
    roles = dict(cluster.run("write").rows(by_role))
    expected = {"client": 1, "appmaster": 1, "map": 2, "reduce": 1, "DataNode": 2, "NameNode": 1}
    assert expected.items() <= roles.items(), roles


@pytest.mark.drawn("mutations", 1)
@pytest.mark.parametrize("point", MUTATIONS)
def test_truth_turns_red_without(cluster: Cluster, written: str, point: str) -> None:
    """GIVEN one data point switched off WHEN the job runs THEN the rules that read it fail."""
    mode, rules = MUTATIONS[point]
    run_name = "without-" + "".join(c for c in point if c.isalnum())
    # what is read is read to its end, however much there is
    size = "1MB" if mode == "write" else f"{SIZE}MB"
    job = cluster.dfsio(run_name, mode, 1, size, options=("--without-point", point))
    check = write_problems if mode == "write" else read_problems
    problems = check(cluster, run_name, job)
    print("\n".join(problems))
    assert truth.failed(problems) == rules


def test_store_is_only_its_owners(cluster: Cluster, written: str) -> None:
    path: Path = cluster.store / "write"
    assert path.stat().st_mode & 0o777 == 0o700


def test_a_collector_that_is_killed_has_a_successor(cluster: Cluster) -> None:
    """A lab starts it again, as a node's service manager does, and nothing is lost."""
    first = collector_of(collector_directory(cluster.name))
    assert first is not None
    put = "hdfs dfs -put -f /etc/services /put-by-two"
    cluster.record("by-two", "sh", "-c", f"{put}; kill -9 {first.pid}; {put}")
    second = collector_of(collector_directory(cluster.name))
    assert second is not None
    assert second.pid != first.pid
    run = cluster.run("by-two")
    assert list(truth.loss_problems(run)) == []
    size = Path("/etc/services").stat().st_size
    query = f"SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND {truth.CLIENT_WRITE}"
    assert run.one(query) == 2 * size
