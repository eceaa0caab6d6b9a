"""Hadoop on file systems beside HDFS: jobs do the same there, and maps run where they should."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.cluster import JOB, ONE_ATTEMPT, Cluster, lab_up, skip_without
from tests.e2e.test_tfidf import ATTACKS, REQUESTS, RIGHT, SETTINGS

from iostrata_lab import clusters
from iostrata_lab.clusters import cephfs, moosefs, mounted
from iostrata_lab.clusters.hadoop.history import FILE_SYSTEM

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.in_turn("moosefs", "cephfs"),
    pytest.mark.skipif(os.geteuid() != 0, reason="file systems need root: nodes, mounts"),
]
FILES = 4
NODES = ("--yarn", "--nodes", "3", "--copies", "1")
WORDS = ("the", "wind", "and", "the", "sea")


def of_moosefs(path: Path, lab: clusters.Lab) -> set[str]:
    said = subprocess.run(("mfsfileinfo", path), capture_output=True, text=True, check=True)
    names = {node.address: node.name for node in lab.nodes()}
    return {names[address] for address in re.findall(r"copy \d+: ([0-9.]+):", said.stdout)}


def of_cephfs(path: Path, lab: clusters.Lab) -> set[str]:
    named = f"{path.stat().st_ino:x}.00000000"
    command = ("ceph", "-c", lab.root / "conf" / "ceph.conf", "osd", "map", "data", named)
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"acting \(\[([0-9,]+)\]", said.stdout)
    assert found, said.stdout
    return {lab.nodes()[int(number)].name for number in found[1].split(",")}


@dataclass(frozen=True)
class Mounted:
    """A file system, what its lab forces on maps, and what a job of it asks for instead."""

    system: str
    programs: tuple[str, ...]
    options: tuple[str, ...]
    holders: Callable[[Path, clusters.Lab], set[str]]  # nodes of a small file, by its own program
    forced: str
    asked: str


KINDS = (
    Mounted("moosefs", moosefs.PROGRAMS, NODES, of_moosefs, "remote", "local"),
    Mounted("cephfs", cephfs.PROGRAMS, (*NODES, "--layout", "large"), of_cephfs, "local", "remote"),
)


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.system)
def kind(request: pytest.FixtureRequest) -> Mounted:
    found: Mounted = request.param
    skip_without(found.programs)
    return found


@pytest.fixture(scope="module")
def cluster(kind: Mounted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    name = f"posixfs-{kind.system}-{os.getpid()}"
    folder = tmp_path_factory.mktemp(kind.system)
    options = (*kind.options, "--locality", kind.forced)
    with lab_up(folder, name, *options, system=kind.system) as cluster:
        yield cluster


def test_maps_run_where_they_were_asked_to(kind: Mounted, cluster: Cluster) -> None:
    """GIVEN files of which each is on one node, WHEN a job asks for nodes with or without it."""
    lab = clusters.find_hadoop(cluster.name)
    mount = Path(lab.environment()[mounted.VARIABLE])
    folder = mount / "user" / "root" / "in"
    folder.mkdir(parents=True)
    holders = {}
    for number in range(FILES):
        path = folder / f"f{number}.txt"
        path.write_text(" ".join(WORDS) + "\n")
        holders[path.name] = kind.holders(path, lab)
    assert {len(nodes) for nodes in holders.values()} == {1}

    marked = ("env", "IOSTRATA_PART=words")
    words = ("hadoop", "jar", str(lab.examples_jar), "wordcount", *ONE_ATTEMPT)
    where = f"-Dfs.posix.locality={kind.asked}"
    said = cluster.record("count", *marked, *words, where, "in", "out")
    # THEN the job has done its work, on the mount
    result = (mount / "user/root/out/part-r-00000").read_text()
    counted = dict(line.split("\t") for line in result.splitlines())
    assert {word: int(n) for word, n in counted.items()} == {
        word: FILES * n for word, n in Counter(WORDS).items()
    }
    # AND each map was where it was asked to be, by the file system and by the trace
    ran = cluster.run("count").rows(
        "SELECT regexp_extract(target, 'f\\d\\.txt'), any_value(host) FROM events WHERE "
        "role = 'map' AND layer = 'fs' AND op = 'read' AND target LIKE '%/in/f%' GROUP BY 1"
    )
    assert len(ran) == FILES
    assert {name: host in holders[name] for name, host in ran} == dict.fromkeys(
        sorted(holders), kind.asked == "local"
    )
    near = FILES if kind.asked == "local" else 0
    job = JOB.search(said)
    assert job
    places = {"data_local": near, "rack_local": 0, "remote": FILES - near, "anywhere": 0}
    assert cluster.summary("count")["map_places"] == [{"job": job[1], **places}]
    # AND Hadoop was told where that is, and believes it
    maps = [one for one in cluster.history(job[1]).attempts if one.type == "MAP"]
    assert [one.locality for one in maps] == ["NODE_LOCAL"] * FILES
    # AND bytes are those that its counters have
    read = cluster.run("count").rows(
        "SELECT task, sum(bytes)::BIGINT FROM events WHERE role = 'map' AND layer = 'fs' AND "
        "op = 'read' AND flags = 0 GROUP BY task ORDER BY task"
    )
    assert read == [(one.name, one.counters[FILE_SYSTEM]["POSIX_BYTES_READ"]) for one in maps]
    # AND processes in containers are of the part of the program that submitted the job
    parts = cluster.run("count").rows("SELECT role, part, count(*) FROM processes GROUP BY ALL")
    own = {role: (part, n) for role, part, n in parts if part is not None}
    assert own.keys() >= {"client", "appmaster", "map", "reduce"}
    assert own["map"] == ("words", FILES)
    assert {part for part, _ in own.values()} == {"words"}


def test_all_nodes_agree_on_when_a_file_was_written(cluster: Cluster) -> None:
    """Or YARN takes the files of a job for changed since it was submitted."""
    lab = clusters.find_hadoop(cluster.name)
    mount = Path(lab.environment()[mounted.VARIABLE])
    there = Path(f"/proc/{lab.nodes()[0].pid}/root{mount}")
    writes = "cat; sleep 4; echo end"  # a second ends between its begin and its end
    cluster.hadoop("sh", "-c", f"({writes}) < /dev/null | hadoop fs -put - /tmp/written")
    assert (there / "tmp/written").read_text() == "end\n"
    assert (there / "tmp/written").stat().st_mtime == (mount / "tmp/written").stat().st_mtime


def test_a_workload_does_the_same_as_on_hdfs(kind: Mounted, cluster: Cluster) -> None:
    sets = [word for one in SETTINGS for word in ("--set", one)]
    words = ("workload", "run", "tfidf", "--lab", cluster.name, *sets)
    done = cluster.iostrata(*words, "--record", "--run", "words", "--json", timeout=420)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert {name: row[name] for name, row in result["confusion"].items()} == RIGHT
    assert result["requests"] == REQUESTS > ATTACKS
    assert result["model_read"] == 3 * result["model_bytes"]
    assert result["hdfs_read"] >= result["model_read"] + result["input_bytes"]
    (found,) = cluster.summary("words")["map_places"]
    near = 3 if kind.forced == "local" else 0
    assert (found["data_local"], found["remote"]) == (near, 3 - near)
