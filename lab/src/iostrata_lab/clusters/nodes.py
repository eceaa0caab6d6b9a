"""The nodes of a lab as values: names, racks, addresses, and what tells Hadoop of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from iostrata_lab.clusters.brakes import Brake
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.processes import Identity

# Half of the range for measurements between hosts of one's own (RFC 2544): nobody routes it.
NETWORK = "198.19"
SUBNETS = range(1, 255)
HEAD = 254
LOOPBACK = "127.0.0.1"
DISK = "disk"  # folder of a lab over which each node mounts its own


@dataclass(frozen=True)
class Node:
    """A host of the lab: DataNode and NodeManager in namespaces of their own."""

    name: str  # node-1.rack-1
    rack: str  # /rack-1
    address: str
    pid: int = 0  # of the process that holds its namespaces
    start: int = 0
    device: str = ""  # MAJOR:MINOR of its disk
    brake: Brake = field(default_factory=Brake)

    @property
    def holder(self) -> Identity:
        return Identity(self.pid, self.start)

    @property
    def short(self) -> str:
        """`node-1`: also the name of its interface, for which the kernel has 15 characters."""
        return self.name.partition(".")[0]


def load(raw: dict[str, Any]) -> Node:
    """A node from its entry in lab.json."""
    return Node(**{**raw, "brake": Brake(**raw["brake"])})


def facts(node: Node) -> dict[str, Any]:
    """What `lab status --json` says of a node: bytes and bytes/s, CPU in cores, 0 for no brake."""
    return {
        "name": node.name,
        "rack": node.rack,
        "address": node.address,
        "brake": asdict(node.brake),
    }


def head(subnet: int) -> str:
    """Where NameNode, ResourceManager and clients are."""
    return f"{NETWORK}.{subnet}.{HEAD}"


@dataclass(frozen=True)
class Topology:
    """How many nodes on how many racks, and which of them are braked from the start, by name."""

    nodes: int
    racks: int = 1
    brakes: Mapping[str, Brake] = field(default_factory=dict)

    def planned(self, subnet: int) -> list[Node]:
        """The nodes, as evenly as may be on the racks, neighbours on one.

        Raises LabError for racks that would stay empty, and for brakes of a node that is not there.
        """
        if not 1 <= self.racks <= self.nodes:
            raise LabError(
                f"{self.nodes} nodes on {self.racks} racks", "each rack needs at least one node"
            )
        found = []
        for number in range(1, self.nodes + 1):
            rack = f"rack-{(number - 1) * self.racks // self.nodes + 1}"
            address = f"{NETWORK}.{subnet}.{number}"
            found.append(Node(f"node-{number}.{rack}", f"/{rack}", address))
        for name, brake in self.brakes.items():
            node = find(found, name)
            found[found.index(node)] = replace(node, brake=brake)
        return found


def free_subnet(taken: Collection[int], interfaces: Collection[str]) -> int:
    """A subnet of no other lab; `interfaces`: those of this machine."""
    for subnet in SUBNETS:
        if subnet not in taken and interface(subnet) not in interfaces:
            return subnet
    raise LabError(
        f"all {len(SUBNETS)} networks of labs are in use",
        "end labs that are no longer needed: iostrata lab down NAME",
    )


def interface(subnet: int) -> str:
    """The name of the head's end of the wire."""
    return f"iolab-{subnet}"


def hosts(nodes: Sequence[Node], subnet: int, own: str, machine: str) -> str:
    """The lab's /etc/hosts; `own`: the name of this machine, `machine`: its own /etc/hosts.

    The lab's lines come first: Java takes the first that fits.
    """
    lines = [
        f"{head(subnet)} {own}",
        *(f"{node.address} {node.name} {node.short}" for node in nodes),
    ]
    return "\n".join(lines) + f"\n127.0.0.1 localhost\n{machine}"


def topology(nodes: Sequence[Node]) -> str:
    """The table of Hadoop's TableMapping: HDFS asks by address, YARN by name."""
    return "".join(f"{who} {node.rack}\n" for node in nodes for who in (node.address, node.name))


def find(nodes: Sequence[Node], name: str) -> Node:
    """The node called `node-1` or `node-1.rack-1`. Raises LabError if there is none."""
    for node in nodes:
        if name in (node.name, node.short):
            return node
    there = ", ".join(node.name for node in nodes)
    if not there:
        raise LabError(
            f"no node {name!r}: the lab has none", "start one with them: lab up hadoop --nodes 3"
        )
    raise LabError(f"no node {name!r}", f"there is: {there}")
