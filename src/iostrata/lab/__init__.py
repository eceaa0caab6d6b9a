"""Real clusters on this machine, to have something worth observing.

lab = up("hadoop", datanodes=2, agent=None)
lab.run(["hadoop", "fs", "-ls", "/"])
lab.down()
"""

from iostrata.lab.brakes import Brake
from iostrata.lab.cluster import DaemonStatus, Lab, find, list_labs, up
from iostrata.lab.errors import LabError
from iostrata.lab.hadoop.conf import AgentOptions
from iostrata.lab.nodes import Node, Topology
from iostrata.lab.state import Daemon

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
