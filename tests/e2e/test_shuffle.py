"""The shuffle, from a reduce's request to the file that the NodeManager sends; localisation."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import Between, Count, Verifies
from tests.e2e.labs import Labs
from tests.e2e.shuffle import (
    PARTS,
    REDUCES,
    WAY,
    Job,
    Node,
    check_bytes,
    check_trees,
    chunks,
    lab_with_words,
    of_parts,
    recorded,
    way,
    with_tls,
)
from tests.e2e.test_complete import jdk
from tests.e2e.trees import Tree

from iostrata_lab import clusters

pytestmark = pytest.mark.cluster

NODEMANAGER = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
# What an ApplicationMaster needs; the tasks find it on the node then.
RESOURCES = ("job.jar", "job.xml", "job.split", "job.splitmetainfo")


@pytest.fixture(scope="module")
def newest(labs: Labs) -> Iterator[tuple[Cluster, Node]]:
    with lab_with_words(labs) as found:
        yield found


@pytest.fixture(scope="module")
def sent(newest: tuple[Cluster, Node]) -> Job:
    """A job with an archive that its containers need, too."""
    cluster, _ = newest
    (cluster.folder / "file").write_text("in an archive", "utf-8")
    archive = str(cluster.folder / "extra.tar")
    subprocess.run(["tar", "-cf", archive, "-C", str(cluster.folder), "file"], check=True)
    return recorded(cluster, "sent", "-archives", archive)


@pytest.fixture(scope="module")
def untraced(newest: tuple[Cluster, Node], sent: Job) -> Job:
    """Through TLS, to reduces that have no agent."""
    cluster, node = newest
    with_tls(cluster)
    node.restart("yarn", "nodemanager")
    java = Path(clusters.find(cluster.name).state.java_home) / "bin/java"
    plain = jdk(cluster.folder / "plain", java, "java")
    return recorded(cluster, "to-untraced", f"-Dmapreduce.reduce.env=JAVA_HOME={plain}")


@pytest.fixture(scope="module")
def alone(newest: tuple[Cluster, Node], untraced: Job) -> Job:
    """From a NodeManager that has no agent."""
    cluster, node = newest
    node.restart("yarn", NODEMANAGER)  # by its class, so without the options of the daemon
    return recorded(cluster, "from-untraced")


def test_every_part_has_its_way(sent: Job) -> None:
    check_trees(sent, "transfer")
    check_bytes(sent)


def test_calls_of_the_shuffle(sent: Job, verifies: Verifies) -> None:
    requests = sent.requests()
    expected: dict[int, Count] = {
        230: REDUCES,
        231: requests,
        232: requests,
        233: PARTS,
        234: PARTS,
        236: PARTS,
        # Before it takes a host; once more where it takes the end of the shuffle for the next.
        237: Between(requests, requests + REDUCES),
        238: REDUCES,
        250: PARTS,
        251: PARTS,
        252: Between(PARTS),  # a full socket takes a part in several goes
        254: requests,
    }
    verifies(sent.run, expected)


def test_what_containers_need_is_localised(sent: Job, verifies: Verifies) -> None:
    files = len(RESOURCES) + 1  # and the archive
    verifies(sent.run, {270: 1, 271: files, 272: files, 273: files})
    tree = Tree(sent.run)
    (localizer,) = tree.named("NodeManager", "task", "localize")
    downloads = [call for call in tree.children(localizer) if call.op == "download"]
    assert {call.tid for call in downloads}.isdisjoint({localizer.tid})  # its threads do it
    fetched = [call for download in downloads for call in tree.children(download)]
    names = {Path(call.target or "").name for call in fetched if call.op == "download_file"}
    assert names == {*RESOURCES, "extra.tar"}


def test_untraced_reduces_are_their_jobs(sent: Job, untraced: Job, verifies: Verifies) -> None:
    """No header says which attempt asked; the URL says which job."""
    assert untraced.moved("accept", "reduce") == {}
    assert untraced.moved("serve_part", "NodeManager") == {None: untraced.size}
    assert untraced.moved("serve_part", "NodeManager", "job") == {untraced.id: untraced.size}
    tree = Tree(untraced.run)
    assert sum(call.bytes for call in of_parts(tree, "read")) == untraced.size
    assert {way(tree, call) for call in of_parts(tree, "read")} == {WAY[:-2]}
    # The same words make the same parts as before, without TLS.
    assert untraced.size == sent.size
    verifies(untraced.run, {250: PARTS, 251: PARTS, 253: chunks(sent)})


def test_a_node_without_an_agent_serves(alone: Job) -> None:
    """It knows nothing of our header; what it sent is what the reduces accepted."""
    assert alone.moved("accept", "reduce") == alone.received
    assert alone.moved("serve_part", "NodeManager") == {}
