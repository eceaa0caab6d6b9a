"""Hadoop as a lab runs it: HDFS and YARN, from its files to its first folder."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from iostrata_lab.clusters import layout, machine, namespaces, state
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop import conf, files, jars, ready, yarn
from iostrata_lab.clusters.hadoop.conf import PORTS, YARN_PORTS, AgentOptions
from iostrata_lab.clusters.hadoop.lab import HadoopLab, webhdfs
from iostrata_lab.clusters.hadoop.versions import DEFAULT, version_named
from iostrata_lab.clusters.nodes import Topology
from iostrata_lab.clusters.starting import LabOrder, started
from iostrata_lab.clusters.state import State
from iostrata_lab.clusters.systems import Launch, Stage, System

NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"


def up(
    name: str = "hadoop",
    *,
    version: str = DEFAULT.name,
    datanodes: int = 1,
    topology: Topology | None = None,
    agent: AgentOptions | None = None,
    daemon_users: Mapping[str, int] | None = None,
    java_home: Path | None = None,
    yarn: bool = True,
    properties: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> HadoopLab:
    """Start HDFS and YARN as real processes; returns when they can take a job.

    With a `topology` (root only) each node of it has a DataNode and a NodeManager, and `datanodes`
    says nothing. `version` is one of `lab.hadoop.versions`; `daemon_users` gives uids for "hdfs"
    and "yarn" (root only); `yarn=False` starts HDFS alone; `properties` of Hadoop go over ours.
    Raises LabError; whatever goes wrong, Ctrl-C included, nothing is left behind.
    """
    users = dict(daemon_users or {})
    hadoop = version_named(version)
    if datanodes < 1:
        raise LabError(f"{datanodes} DataNodes", "at least one is needed")
    if topology is not None:
        namespaces.check()
        datanodes = len(topology.planned(subnet=0))
    machine.check_users(users)
    machine.check_words(state.folder(name))
    if agent is not None:
        machine.check_agent(agent)
        if users:
            machine.check_open(agent.jar, "copy the jar to a folder open to all")
    jdk = machine.java_home(java_home, hadoop)
    if topology is not None:
        machine.check_hosts_file(jdk)
    lib = jars.fetch(progress, hadoop)
    own = {
        "java_home": str(jdk),
        "datanodes": datanodes,
        "yarn": yarn,
        "agent": {"jar": str(agent.jar), "dir": str(agent.dir)} if agent else None,
        "hadoop": hadoop.name,
        "properties": dict(properties or {}),
    }
    known_ports = PORTS + (YARN_PORTS if yarn else ())
    order = LabOrder(name, HADOOP, topology, known_ports, users, own, lib)
    return HadoopLab(started(order, progress), HADOOP)


def fill(known: State, root: Path) -> None:
    """bin/, conf/, data/ and logs/."""
    uid = known.daemon_users.get("hdfs")
    layout.make_folder(layout.data(root, "namenode"), uid, 0o700)
    if not known.nodes:
        for number in range(1, known.datanodes + 1):
            layout.make_folder(layout.data(root, f"datanode-{number}"), uid, 0o700)
    if known.yarn:
        yarn.fill(known, root)
    files.make(known, root)


def fill_disk(known: State, disk: Path) -> None:
    """The folders of the daemons of a node, unless that was done before."""
    if not (disk / "datanode").exists():
        layout.make_folder(disk / "datanode", known.daemon_users.get("hdfs"), 0o700)
    yarn.fill_disk(known, disk)


def stages(known: State, root: Path, first: bool) -> Iterator[Stage]:
    """All daemons at once; on the `first` start the NameNode is formatted."""
    namenode, hdfs = known.at("namenode-http"), webhdfs(known)
    waits = [lambda: ready.hdfs_lacks(namenode, known.datanodes)]
    if first:
        waits.append(lambda: _make_folders(hdfs))
    nodes = "DataNode" if known.datanodes == 1 else "DataNodes"
    said = f"HDFS ready: hdfs://{known.at('namenode')}, {known.datanodes} {nodes}"
    yield Stage(tuple(_launches(known, root, first)), tuple(waits), said)
    if known.yarn:
        yield yarn.stage(known)


def _launches(known: State, root: Path, first: bool) -> list[Launch]:
    hdfs = str(root / "bin" / "hdfs")
    namenode = [hdfs, "namenode"]
    if first:
        # By its class and so without the options of the daemon: no agent sees the formatting.
        script = f'"$0" {NAMENODE} -format -nonInteractive && exec "$0" namenode'
        namenode = ["bash", "-c", script, hdfs]
    found = [Launch("namenode", namenode, group="hdfs"), *_datanodes(known, root, hdfs)]
    if known.yarn:
        found += yarn.launches(known, root)
    return found


def _datanodes(known: State, root: Path, hdfs: str) -> list[Launch]:
    if known.nodes:
        argv = [hdfs, "datanode", *yarn.IMPATIENT]
        return [Launch(f"datanode-{n}", argv, at, "hdfs") for n, at in enumerate(known.nodes, 1)]
    found = []
    for number in range(1, known.datanodes + 1):
        role = f"datanode-{number}"
        folder = f"dfs.datanode.data.dir=file://{layout.data(root, role)}"
        found += [Launch(role, [hdfs, "datanode", "-D", folder, *yarn.IMPATIENT], group="hdfs")]
    return found


def _make_folders(hdfs: ready.WebHdfs) -> str:
    try:
        hdfs.make_folders(["/tmp", conf.STAGING, "/user", "/history", conf.HISTORY])
    except (OSError, http.client.HTTPException) as error:
        return f"HDFS refuses to make its folders: {error}"
    return ""


HADOOP = System("hadoop", fill, stages, files.environment, fill_disk)
