"""The older versions of Hadoop: every point is there, and jobs add up as on the newest."""

from __future__ import annotations

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import Count, Verifies
from tests.e2e.labs import Labs
from tests.e2e.mapreduce import MapReduceTruth
from tests.e2e.test_truth import read_problems, write_problems
from tests.e2e.truth import Run

from iostrata.record.classpath import ClassPath, check
from iostrata_lab.clusters.hadoop import jars
from iostrata_lab.clusters.hadoop.versions import DEFAULT, VERSIONS, Version

FILES = 2
MEGABYTES = 4
APPENDED = "/benchmarks/TestDFSIO/io_write/part-00000"
SIZE = FILES * MEGABYTES << 20
ROLES = {"client": 1, "appmaster": 1, "map": 2, "reduce": 1, "DataNode": 2, "NameNode": 1}


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_every_point_is_in_every_version(version: Version) -> None:
    """GIVEN all jars of a version THEN none of the points it should have is missing."""
    path = ClassPath(f"{jars.fetch(print, version)}/*")
    assert path.version() == version.name
    found = check(path)
    assert [
        f"{one.point.cls}#{one.point.method}: {one.state}" for one in found if one.lacking
    ] == []


# Of the versions between the oldest and the default only what is drawn runs daily.
OLDER = [
    pytest.param(v, id=v.name, marks=() if v is VERSIONS[-1] else pytest.mark.soak)
    for v in VERSIONS
    if v is not DEFAULT
]


@pytest.fixture(scope="module", params=OLDER)
def cluster(request: pytest.FixtureRequest, labs: Labs) -> Cluster:
    found = labs.at("--version", request.param.name, "--datanodes", "2")
    said = found.hadoop("hadoop", "version").splitlines()[0]
    assert said == f"Hadoop {request.param.name}"
    return found


@pytest.fixture(scope="module")
def written(cluster: Cluster) -> str:
    return cluster.dfsio("write", "write", FILES, f"{MEGABYTES}MB")


@pytest.mark.cluster
def test_a_small_job_adds_up(cluster: Cluster, written: str) -> None:
    """TestDFSIO: exact per attempt, on both DataNodes, nothing dropped."""
    attempts = cluster.attempts(written)
    assert len(attempts) == FILES + 1  # one map per file, one reduce
    assert sum(attempt.written for attempt in attempts) > SIZE
    assert write_problems(cluster, "write", written) == []


@pytest.mark.cluster
@pytest.mark.drawn("jobs of older versions", 1)
@pytest.mark.usefixtures("written")
def test_what_was_written_is_read(cluster: Cluster) -> None:
    read = cluster.dfsio("read", "read", FILES, f"{MEGABYTES}MB")
    assert sum(attempt.read for attempt in cluster.attempts(read)) > SIZE
    assert read_problems(cluster, "read", read) == []


@pytest.mark.cluster
def test_everything_was_traced(
    cluster: Cluster,
    written: str,
    request: pytest.FixtureRequest,
    verifies: Verifies,
) -> None:
    """Every process of the job, and every operation that the newest version shows there."""
    run = cluster.run("write")
    by_role = "SELECT role, count(*) FROM processes WHERE traced GROUP BY role"
    roles = dict(run.rows(by_role))
    assert ROLES.items() <= roles.items(), roles
    ops = {f"{layer} {op}" for layer, op in run.rows("SELECT DISTINCT layer, op FROM events")}
    assert ops >= {
        "fs write",
        "hdfs create",
        "hdfs send_packet",
        "rpc call",
        "datanode write_block",
        "datanode receive_packet",
        "datanode flush",
        "datanode write",
        "java write",
    }
    if "3.3.6" in request.node.name:
        verifies_what_later_versions_lack(run, verifies)
        cluster.record("append", "hadoop", "fs", "-appendToFile", "/etc/hostname", APPENDED)
        verifies(cluster.run("append"), {85: 1, 86: 1})


def verifies_what_later_versions_lack(run: Run, verifies: Verifies) -> None:
    """Packets and locks have fewer parameters; threads of a client's stream still have a `run`."""
    packets = run.one(
        "SELECT sum(count)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'datanode' "
        "AND op = 'write'"
    )
    verifies(run, {149: packets})
    locks = dict(
        run.rows(
            "SELECT op, sum(count)::BIGINT FROM events WHERE kind = 'sum' AND role = 'NameNode' "
            "AND op IN ('read_lock', 'write_lock') GROUP BY op"
        )
    )
    unlocks: dict[int, Count] = {319: locks["read_lock"], 320: locks["write_lock"]}
    verifies(run, unlocks, "role = 'NameNode'")
    for role in ("map", "reduce"):
        # FILES files by the maps, one by the reduce: a stream each, with one block.
        files = FILES if role == "map" else 1
        verifies(run, {105: files, 106: files}, f"role = '{role}'")


@pytest.mark.cluster
@pytest.mark.drawn("jobs of older versions", 1)
class TestOlder(MapReduceTruth):
    """The truth table of MapReduce."""
