"""Real clusters on this machine, to have something worth observing.

lab = up("hadoop", datanodes=2, agent=None)
lab.run(["hadoop", "fs", "-ls", "/"])
lab.down()
"""

from iostrata_lab.clusters.brakes import Brake
from iostrata_lab.clusters.cephfs import up as up_cephfs
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop.conf import AgentOptions
from iostrata_lab.clusters.hadoop.lab import HadoopLab
from iostrata_lab.clusters.hadoop.onmount import OnMount
from iostrata_lab.clusters.hadoop.system import up
from iostrata_lab.clusters.lab import DaemonStatus, Lab
from iostrata_lab.clusters.labs import find, find_hadoop, list_labs
from iostrata_lab.clusters.moosefs import up as up_moosefs
from iostrata_lab.clusters.nodes import Node, Topology
from iostrata_lab.clusters.state import Daemon

__all__ = [
    "AgentOptions",
    "Brake",
    "Daemon",
    "DaemonStatus",
    "HadoopLab",
    "Lab",
    "LabError",
    "Node",
    "OnMount",
    "Topology",
    "find",
    "find_hadoop",
    "list_labs",
    "up",
    "up_cephfs",
    "up_moosefs",
]
