"""Who caused what, across threads and processes: whole trees of a replicated write and a read."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.e2e.cluster import Cluster, lab_up
from tests.e2e.trees import Tree

pytestmark = pytest.mark.cluster

SIZE = 300_000
PACKETS = -(-SIZE // 64_512)  # of 126 chunks of 512 bytes, dfs.client-write-packet-size


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("causes")
    (folder / "local").write_bytes(os.urandom(SIZE))
    with lab_up(folder, f"causes-{os.getpid()}", "--datanodes", "3") as cluster:
        put = ("hadoop", "fs", "-D", "dfs.replication=3", "-put", str(folder / "local"), "/file")
        cluster.record("put", *put)
        cluster.record("get", "hadoop", "fs", "-get", "/file", str(folder / "copy"))
        yield cluster


@pytest.fixture(scope="module")
def put(cluster: Cluster) -> Tree:
    return Tree(cluster.run("put"))


@pytest.fixture(scope="module")
def get(cluster: Cluster) -> Tree:
    return Tree(cluster.run("get"))


def test_what_was_written_is_read(cluster: Cluster, get: Tree) -> None:
    assert (cluster.folder / "copy").read_bytes() == (cluster.folder / "local").read_bytes()


def test_the_process_has_a_root(put: Tree) -> None:
    (root,) = put.named("client", "task", "process")
    top = put.children_of(None, root.proc)
    assert {"connect", "create", "close"} <= {call.op for call in top}
    assert all(call.trace == root.proc for call in top)


def test_client_to_namenode(put: Tree) -> None:
    """create → RPC → handler → the operation, its lock, its edit, the answer after both."""
    create = put.path("client", "hdfs.create", "hdfs.create")
    handle = put.path_from(create, "rpc.call", "NameNode rpc.handle")
    serve = put.path_from(handle, "rpc.serve", "namenode.create")
    assert serve.target == "/file._COPYING_"
    assert {"write_lock", "write_unlock", "enqueue_edit", "log_edit", "edit_synced"} <= {
        call.op for call in put.children(serve)
    }
    synced = put.path_from(serve, "namenode.edit_synced")
    assert synced.tid != handle.tid
    # Server.Call#sendResponse: whichever ends last answers, the handler or the edit log's thread
    after_handler = [call.op for call in put.children(handle)]
    after_sync = [call.op for call in put.children(synced)]
    assert (after_handler, after_sync) in ((["serve"], ["respond"]), (["serve", "respond"], []))


def test_write_pipeline_to_three_disks(put: Tree) -> None:
    stream = put.path("client", "hdfs.create", "hdfs.create", "hdfs.stream")
    assert stream.target == "/file._COPYING_"
    assert sum(c.bytes for c in put.children(stream) if c.op == "send_packet") == SIZE
    node = put.path_from(stream, "hdfs.connect", "DataNode datanode.write_block")
    processes = []
    for place in range(3):
        processes.append(node.proc)
        assert node.bytes == SIZE
        receive = put.path_from(node, "datanode.receive_block")
        packets = [call for call in put.children(receive) if call.op == "receive_packet"]
        assert len(packets) == PACKETS + 1  # the last one is empty
        disks = [c for p in packets for c in put.children(p) if c.name == "datanode.write"]
        assert sum(call.bytes for call in disks) == SIZE
        files = [c for disk in disks for c in put.children(disk) if c.layer == "java"]
        assert sum(call.bytes for call in files) == SIZE
        mirrored = [c for p in packets for c in put.children(p) if c.op == "mirror_packet"]
        assert len(mirrored) == (PACKETS + 1 if place < 2 else 0)
        respond = put.path_from(receive, "datanode.respond")
        acks = [call for call in put.children(respond) if call.op == "ack"]
        assert len(acks) == PACKETS + 1
        assert (respond.block, respond.tid != receive.tid) == (node.block, True)
        if place < 2:
            node = put.path_from(node, "DataNode datanode.write_block")
    assert len(set(processes)) == 3


def test_read_from_disk(get: Tree) -> None:
    locate = get.path("client", "hdfs.open", "hdfs.locate", "rpc.call", "NameNode rpc.handle")
    assert get.path_from(locate, "rpc.serve", "namenode.locate").target == "/file"
    block = get.path("client", "hdfs.read", "DataNode datanode.read_block")
    assert block.bytes == SIZE
    sends = get.path_from(block, "datanode.send_block")
    transfers = [
        disk
        for packet in get.children(sends)
        for transfer in get.children(packet)
        for disk in get.children(transfer)
        if transfer.op == "disk_transfer" and disk.layer == "java"
    ]
    assert sum(call.bytes for call in transfers) == SIZE


def test_no_call_at_the_servers_is_an_orphan(put: Tree, get: Tree) -> None:
    """All that this run caused at NameNode and DataNodes leads back to the client's process."""
    for tree in (put, get):
        (root,) = tree.named("client", "task", "process")
        assert {layer: calls for layer, calls in tree.orphans(root.proc).items() if calls} == {}


def test_waits_between_threads_are_links(put: Tree) -> None:
    """Each call of the client waited for a handler; each edit for the edit log's thread."""
    links = put.links()
    handled = len(put.named("NameNode", "rpc", "handle"))
    assert 0 < links["rpc", "handle"] <= handled
    assert links["namenode", "log_edit"] <= len(put.named("NameNode", "namenode", "log_edit"))


def copied(cluster: Cluster, path: str) -> int:
    return int(cluster.hadoop("hadoop", "fs", "-du", path).split()[0])


def test_an_untraced_client_on_traced_servers(cluster: Cluster) -> None:
    put = ("hadoop", "fs", "-put", str(cluster.folder / "local"), "/untraced")
    said = cluster.record("untraced", "env", "-u", "JAVA_TOOL_OPTIONS", *put)
    assert "not traced" in said  # the client's JVM is named as missing
    assert copied(cluster, "/untraced") == SIZE
