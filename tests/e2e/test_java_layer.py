"""Sockets, local files below Hadoop, and what is no data: calls of the JDK, told apart."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import Iostrata, Verifies
from tests.e2e.jdks import java_home
from tests.e2e.labs import Labs
from tests.e2e.truth import Run

from iostrata_lab import clusters
from iostrata_lab.clusters.hadoop import jars
from iostrata_lab.clusters.hadoop.versions import DEFAULT

HERE = Path(__file__).parent
LOOPBACK = "127.0.0.1"
OLD_SOCKETS = (
    "-Djdk.net.usePlainSocketImpl=true"  # those of JDK 8 to 12, which 17 has for the last time
)

# What EverySocketCall does by point: calls, bytes.
CHANNELS_SEND = {43: (1, 100), 44: (1, 50), 45: (2, 71)}
CHANNELS_RECEIVE = {40: (3, 100 + 60), 41: (1, 50), 42: (3, 71)}
STREAMS_SEND, STREAMS_RECEIVE = {47: (2, 71)}, {46: (3, 71)}
OLD_STREAMS = {48: (3, 71), 49: (2, 71)}
SENT_FILE = 60  # with transferTo: in the kernel, past the methods of the socket


@pytest.mark.drawn("sockets", 1)
@pytest.mark.parametrize(("version", "option"), [("17", ""), ("25", ""), ("17", OLD_SOCKETS)])
def test_every_socket_call(
    version: str, option: str, tmp_path: Path, program: Path, iostrata: Iostrata, verifies: Verifies
) -> None:
    java = str(java_home(version) / "bin/java")
    file = tmp_path / "in"
    file.write_bytes(bytes(100))
    command = (java, *filter(None, [option]), "-cp", str(program), "EverySocketCall", str(file))
    done = iostrata("record", "--run", "r", "--", *command)
    assert done.returncode == 0
    channels, streams = done.stdout.split()
    # WHEN
    run = Run(tmp_path / "store", "r")
    calls = run.rows(
        "SELECT op, target, peer, point, count(*), sum(bytes)::BIGINT FROM events "
        "WHERE kind = 'call' AND category = 'socket' AND (flags & 1) = 0 GROUP BY ALL"
    )
    # THEN the peer that was connected to has its port, one that came in only its address
    expected = {
        ("send", f"{LOOPBACK}:{channels}"): CHANNELS_SEND,
        ("send", f"{LOOPBACK}:{streams}"): STREAMS_SEND,
        ("receive", LOOPBACK): CHANNELS_RECEIVE | STREAMS_RECEIVE,
    }
    found: dict[tuple[str, str], dict[int, tuple[int, int]]] = {key: {} for key in expected}
    for op, target, peer, point, count, total in calls:
        assert peer == target
        found[op, target][point] = (count, total)
    assert found == expected
    # AND what was sent was received
    sums = "SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'java' AND "
    sent = run.one(f"{sums} op = 'send' AND (flags & 32) = 0")
    transferred = run.one(f"{sums} op = 'transfer' AND category = 'file'")
    assert transferred == SENT_FILE
    assert run.one(f"{sums} op = 'receive' AND (flags & 32) = 0") == sent + transferred
    points = CHANNELS_SEND | CHANNELS_RECEIVE | STREAMS_SEND | STREAMS_RECEIVE
    if option:
        points |= OLD_STREAMS
    verifies(run, {point: count for point, (count, _) in points.items()})


def test_a_summary_says_what_sockets_moved(
    tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    file = tmp_path / "in"
    file.write_bytes(bytes(100))
    java = ("java", "-cp", str(program), "EverySocketCall", str(file))
    assert iostrata("record", "--run", "r", "--", *java).returncode == 0
    summary = json.loads(iostrata("summary", "r", "--json").stdout)
    (layer,) = [row for row in summary["layers"] if row["layer"] == "java"]
    sent = 100 + 50 + 71 + 71
    assert (layer["bytes_sent"], layer["bytes_received"]) == (sent, sent + SENT_FILE)


def test_data_is_told_apart_from_classes_and_pipes(
    tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    """GIVEN a class in a file, another in a jar, two pipes and a file of data."""
    data = tmp_path / "data"
    data.write_bytes(bytes(3000))
    jar, loaded = tmp_path / "main.jar", "ReadsOfAllKinds$Loaded.class"
    main = "ReadsOfAllKinds.class"
    subprocess.run(["jar", "cf", str(jar), "-C", str(program), main], check=True)
    path = f"{jar}:{program}"
    script = f"head -c 50 /dev/zero | java -cp '{path}' ReadsOfAllKinds '{data}'"
    assert iostrata("record", "--run", "r", "--", "sh", "-c", script).returncode == 0
    run = Run(tmp_path / "store", "r")
    read = dict(
        run.rows(
            "SELECT category, sum(bytes)::BIGINT FROM events WHERE kind = 'sum' "
            "AND layer = 'java' AND op = 'read' AND (flags & 32) = 0 GROUP BY category"
        )
    )
    assert read["file"] == 3000
    assert read["pipe"] == 50 + 70  # standard input, and what came back from the child
    assert read["classes"] == (program / loaded).stat().st_size
    # The class loader reads the directory at the end of a jar, and what it looks for in it.
    query = "SELECT count(*) FROM events WHERE kind = 'call' AND category = 'jars' AND target = ?"
    assert run.one(query, str(jar)) > 0
    assert set(read) == {"file", "pipe", "classes", "jars"}
    written = run.one(
        "SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'java' "
        "AND op = 'write' AND category = 'pipe' AND (flags & 32) = 0 "
    )
    said = run.one(
        "SELECT coalesce(sum(bytes), 0)::BIGINT FROM events WHERE kind = 'call' "
        "AND op = 'write' AND target = 'stderr'"
    )
    assert written - said == 70


def test_every_local_call(tmp_path: Path, iostrata: Iostrata, verifies: Verifies) -> None:
    """GIVEN Hadoop's local file system WHEN each of its traced methods is called."""
    folder, classes = tmp_path / "files", tmp_path / "classes"
    folder.mkdir()
    path = f"{jars.fetch(print, DEFAULT)}/*"
    source = str(HERE / "EveryLocalCall.java")
    subprocess.run(["javac", "-cp", path, "-d", str(classes), source], check=True)
    command = ("java", "-cp", f"{classes}:{path}", "EveryLocalCall", str(folder))
    assert iostrata("record", "--run", "r", "--", *command).returncode == 0
    run = Run(tmp_path / "store", "r")
    moved = dict(
        run.rows(
            "SELECT op, sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'fs' "
            "AND (flags & 32) = 0 GROUP BY op"
        )
    )
    vectored = 1_000 + 700
    assert moved == {
        "connect": 0,
        "write": 3_000,
        "raw_write": 3_000 + 1 + 100,
        "read": 400 + 1 + 300,
        "read_vectored": vectored,
    }
    # The same in the layer below: what nobody in Hadoop counts is read there, too.
    in_folder = f"FROM events WHERE kind = 'call' AND layer = 'java' AND target LIKE '{folder}/%'"
    below = dict(run.rows(f"SELECT op, sum(bytes)::BIGINT {in_folder} GROUP BY op"))
    written = moved["write"] + moved["raw_write"]  # bytes count once: here, or there
    assert below == {"write": written, "read": moved["read"] + vectored}
    assert run.rows(f'SELECT "offset", bytes {in_folder} AND point = 14 ORDER BY ALL') == [
        (0, 1_000),
        (2_000, 700),
    ]
    once = dict.fromkeys((60, 61, 62, 290, 291, 292, 293, 295, 296), 1)
    # the buffer of a stream in one piece, what was written past it, and what had none
    verifies(run, {**once, 293: 2, 294: 3, 14: 2}, where="category IN ('file', 'unknown')")


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Cluster:
    return labs.at()


@pytest.mark.cluster
def test_hdfs_over_sockets(cluster: Cluster, verifies: Verifies) -> None:
    """A file written and read by ranges: packets, checksums and headers are in the sockets."""
    classes = cluster.folder / "classes"
    path = clusters.find(cluster.name).environment()["CLASSPATH"]
    source = str(HERE / "VectoredReads.java")
    subprocess.run(["javac", "-cp", path, "-d", str(classes), source], check=True)
    cluster.record("vectored", "java", "-cp", f"{classes}:{path}", "VectoredReads", "/vectored")
    run = cluster.run("vectored")
    size, ranges = 1 << 20, (200_000, 300_000)
    sums = "SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND (flags & 32) = 0 AND"
    # HDFS has no vectored reads of its own: each range is one readFully at a position
    assert run.one(f"{sums} layer = 'hdfs' AND op = 'read'") == sum(ranges)
    verifies(run, {96: len(ranges)}, where="layer = 'hdfs'")
    # On the way there: data and a checksum of 4 bytes for each 512.
    sent = run.one(f"{sums} role = 'client' AND layer = 'java' AND op = 'send'")
    taken = run.one(f"{sums} role = 'DataNode' AND layer = 'java' AND op = 'receive'")
    assert size + size // 512 * 4 < taken <= sent
    # And back: the DataNode hands its file to the kernel.
    got = run.one(f"{sums} role = 'client' AND layer = 'java' AND op = 'receive'")
    transferred = run.one(f"{sums} role = 'DataNode' AND layer = 'java' AND op = 'transfer'")
    assert sum(ranges) <= transferred <= got
