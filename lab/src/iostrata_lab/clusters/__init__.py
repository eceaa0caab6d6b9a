"""Real clusters on this machine, to have something worth observing.

lab = up("hadoop", datanodes=2, agent=None)
lab.run(["hadoop", "fs", "-ls", "/"])
lab.down()
"""

from iostrata_lab.clusters.brakes import Brake
from iostrata_lab.clusters.cluster import DaemonStatus, Lab, find, list_labs, up
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop.conf import AgentOptions
from iostrata_lab.clusters.nodes import Node, Topology
from iostrata_lab.clusters.state import Daemon

__all__ = [
    "AgentOptions",
    "Brake",
    "Daemon",
    "DaemonStatus",
    "Lab",
    "LabError",
    "Node",
    "Topology",
    "find",
    "list_labs",
    "up",
]
