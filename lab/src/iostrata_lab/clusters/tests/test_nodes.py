"""Nodes, their names and racks, as values and as what Hadoop reads."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from iostrata_lab.clusters import nodes
from iostrata_lab.clusters.brakes import Brake
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop import conf
from iostrata_lab.clusters.hadoop.conf import ClusterPlan
from iostrata_lab.clusters.nodes import Topology

PORTS = {name: 20000 + n for n, name in enumerate((*conf.PORTS, *conf.YARN_PORTS))}
THREE = Topology(3, 2).planned(7)


def files() -> dict[str, str]:
    """The configuration of a lab of three nodes."""
    plan = ClusterPlan(Path("/labs/a"), Path("/jars"), Path("/jdk"), PORTS, 3, None)
    return conf.files(ClusterPlan(**{**vars(plan), "nodes": THREE, "subnet": 7}))


def properties(text: str) -> dict[str, str]:
    root = ElementTree.fromstring(text)
    return {p.findtext("name", ""): p.findtext("value", "") for p in root.iter("property")}


def test_racks_are_filled_evenly_and_in_order() -> None:
    def racks(count: int, of: int) -> list[str]:
        return [node.rack for node in Topology(count, of).planned(1)]

    assert racks(3, 2) == ["/rack-1", "/rack-1", "/rack-2"]
    assert racks(4, 2) == ["/rack-1", "/rack-1", "/rack-2", "/rack-2"]
    assert racks(3, 3) == ["/rack-1", "/rack-2", "/rack-3"]
    assert racks(2, 1) == ["/rack-1", "/rack-1"]


def test_a_node_has_a_name_an_address_and_an_interface() -> None:
    last = THREE[-1]
    assert (last.name, last.address, last.short) == ("node-3.rack-2", "198.19.7.3", "node-3")
    assert all(len(node.short) <= 15 for node in Topology(32, 32).planned(254))
    assert len(nodes.interface(254)) <= 15


@pytest.mark.parametrize("racks", [0, 4])
def test_a_rack_without_nodes_is_refused(racks: int) -> None:
    with pytest.raises(LabError, match=f"3 nodes on {racks} racks .each rack needs at least one"):
        Topology(3, racks).planned(1)


def test_brakes_go_to_the_nodes_that_they_name() -> None:
    brake = Brake(net=5)
    found = Topology(3, 2, {"node-2": brake, "node-3.rack-2": brake}).planned(1)
    assert [node.brake for node in found] == [Brake(), brake, brake]
    with pytest.raises(LabError, match=r"no node 'node-4' \(there is: node-1\.rack-1, node-2"):
        Topology(3, 2, {"node-4": brake}).planned(1)
    with pytest.raises(LabError, match="no node 'node-1': the lab has none"):
        nodes.find([], "node-1")


def test_a_subnet_is_nobody_elses() -> None:
    assert nodes.free_subnet({0, 1, 3}, ["lo", "eth0", "iolab-2"]) == 4
    with pytest.raises(LabError, match="all 254 networks of labs are in use"):
        nodes.free_subnet(nodes.SUBNETS, [])


def test_names_and_racks_are_tables_beside_the_configuration() -> None:
    found = files()
    machine = "127.0.0.1 localhost\n127.0.0.1 head\n"
    assert nodes.hosts(THREE, 7, "head", machine) == (
        "198.19.7.254 head\n"
        "198.19.7.1 node-1.rack-1 node-1\n"
        "198.19.7.2 node-2.rack-1 node-2\n"
        "198.19.7.3 node-3.rack-2 node-3\n"
        "127.0.0.1 localhost\n"
        "127.0.0.1 localhost\n127.0.0.1 head\n"
    )
    assert found["topology"] == (
        "198.19.7.1 /rack-1\nnode-1.rack-1 /rack-1\n"
        "198.19.7.2 /rack-1\nnode-2.rack-1 /rack-1\n"
        "198.19.7.3 /rack-2\nnode-3.rack-2 /rack-2\n"
    )
    core = properties(found["core-site.xml"])
    assert core["fs.defaultFS"] == "hdfs://198.19.7.254:20000"
    assert core["net.topology.table.file.name"] == "/labs/a/conf/topology"


def test_servers_of_the_head_are_in_the_labs_network_and_nodes_are_as_hadoop_has_them() -> None:
    found = files()
    hdfs, yarn = properties(found["hdfs-site.xml"]), properties(found["yarn-site.xml"])
    assert hdfs["dfs.namenode.rpc-address"] == "198.19.7.254:20000"
    assert hdfs["dfs.datanode.data.dir"] == "file:///labs/a/disk/datanode"
    assert not {"dfs.datanode.address", "dfs.datanode.hostname"} & hdfs.keys()
    assert yarn["yarn.resourcemanager.address"].startswith("198.19.7.254:")
    assert yarn["yarn.nodemanager.address"] == "0.0.0.0:8041"
    assert yarn["yarn.nodemanager.local-dirs"] == "/labs/a/disk/nodemanager"
    assert not any("127.0.0.1" in value for value in (*hdfs.values(), *yarn.values()))


def test_java_on_this_machine_learns_the_names_from_a_file() -> None:
    option = "-Djdk.net.hosts.file=/labs/a/conf/hosts"
    lines = [line for line in files()["hadoop-env.sh"].splitlines() if option in line]
    assert [line.split("=")[0] for line in lines] == [
        "export HADOOP_CLIENT_OPTS",
        "export HDFS_NAMENODE_OPTS",
        "export HDFS_DATANODE_OPTS",
        "export YARN_RESOURCEMANAGER_OPTS",
        "export YARN_NODEMANAGER_OPTS",
    ]


def test_what_status_says_of_a_node() -> None:
    (node,) = Topology(1, 1, {"node-1": Brake(disk=20_000_000, cpu=0.5)}).planned(9)
    assert nodes.facts(node) == {
        "name": "node-1.rack-1",
        "rack": "/rack-1",
        "address": "198.19.9.1",
        "brake": {"disk": 20_000_000, "disk_ops": 0, "dirty": 0, "net": 0, "cpu": 0.5},
    }
