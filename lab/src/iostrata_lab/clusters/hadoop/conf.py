"""The lab's Hadoop configuration: values in, texts of files out."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from iostrata_lab.clusters import nodes
from iostrata_lab.clusters.nodes import DISK, Node

PORTS = ("namenode", "namenode-http")
YARN_PORTS = (
    "scheduler",
    "tracker",
    "resourcemanager",
    "admin",
    "resourcemanager-http",
    "nodemanager",
    "localizer",
    "nodemanager-http",
)

# Task JVMs and daemons live for seconds to minutes: the second compiler and the parallel
# collectors cost them more CPU than they return.
QUICK = "-XX:TieredStopAtLevel=1 -Xshare:auto -XX:+UseSerialGC"
CONTAINER_MB = 768
CONTAINERS = 4  # the ApplicationMaster and three tasks
CONTAINERS_OF_NODE = 2

OVER_MOUNT = "over-mount.jar"  # in bin/ of a lab
HISTORY = "/history/intermediate"
STAGING = "/tmp/hadoop-yarn/staging"


@dataclass(frozen=True)
class AgentOptions:
    """What goes onto command lines: the agent and the directory of its segments."""

    jar: Path  # or the native loader, a library with the jar beside it
    dir: Path

    @property
    def option(self) -> str:
        how = "agentpath" if self.jar.suffix == ".so" else "javaagent"
        return f"-{how}:{self.jar}=dir={self.dir}"


@dataclass(frozen=True)
class ClusterPlan:
    """All that the configuration of one lab depends on."""

    root: Path  # the lab's directory
    lib: Path  # Hadoop's jars
    java_home: Path
    ports: Mapping[str, int]
    datanodes: int
    agent: AgentOptions | None
    jvm: str = ""  # options that this version of Hadoop needs on this JDK
    properties: Mapping[str, str] = field(default_factory=dict)  # over all of ours
    nodes: Sequence[Node] = ()  # none: all daemons are on loopback
    subnet: int = 0  # of the nodes
    # Of the file system in place of HDFS, which all nodes mount; none: HDFS.
    over_mount: Mapping[str, object] = field(default_factory=dict)

    def classes(self, separator: str) -> str:
        """Hadoop's jars, and with a mounted file system the one that reads and writes it."""
        own = [f"{self.root}/bin/{OVER_MOUNT}"] if self.over_mount else []
        return separator.join([f"{self.lib}/*", *own])

    @property
    def forced(self) -> bool:
        """Whether maps run where they are asked to, and nowhere else."""
        return self.over_mount.get("fs.posix.locality") in ("local", "remote")

    @property
    def head(self) -> str:
        """The address of NameNode and ResourceManager."""
        return nodes.head(self.subnet) if self.nodes else nodes.LOOPBACK

    @property
    def disk(self) -> str:
        """Where DataNodes and NodeManagers have their folders."""
        return f"{self.root}/{DISK}" if self.nodes else f"{self.root}/data"

    @property
    def quick(self) -> str:
        """The options of every JVM."""
        return f"{QUICK} {self.jvm}".rstrip()


def files(plan: ClusterPlan) -> dict[str, str]:
    """The texts of the conf directory by file name."""
    sites = {
        "core-site.xml": core(plan),
        "hdfs-site.xml": {} if plan.over_mount else hdfs(plan),
        "yarn-site.xml": yarn(plan),
        "mapred-site.xml": mapred(plan),
    }
    for name, value in plan.properties.items():
        sites[site_of(name)][name] = value
    return {
        **{name: xml(properties) for name, properties in sites.items()},
        "capacity-scheduler.xml": xml(scheduler(plan)),
        "hadoop-env.sh": env(plan),
        "log4j.properties": LOG4J,
        **(tables(plan) if plan.nodes else {}),
    }


def tables(plan: ClusterPlan) -> dict[str, str]:
    """Which racks the nodes are on."""
    return {"topology": nodes.topology(plan.nodes)}


def site_of(name: str) -> str:
    """The file that a property belongs to: daemons of HDFS do not read YARN's."""
    if name.startswith(("mapreduce.", "yarn.app.mapreduce.")):
        return "mapred-site.xml"
    found = {"dfs": "hdfs-site.xml", "yarn": "yarn-site.xml"}
    return found.get(name.partition(".")[0], "core-site.xml")


def xml(properties: Mapping[str, object]) -> str:
    """A Hadoop configuration file; values are escaped."""
    rows = (
        f"  <property>\n    <name>{escape(name)}</name>\n"
        f"    <value>{escape(str(value))}</value>\n  </property>\n"
        for name, value in properties.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{"".join(rows)}</configuration>\n'


def env(plan: ClusterPlan) -> str:
    """hadoop-env.sh: Java, and the options of each daemon."""
    agent = f" {plan.agent.option}" if plan.agent else ""
    tmp = f"-Djava.io.tmpdir={plan.root}/data/tmp"  # where Jetty unpacks its pages
    options = f"-Xmx256m {plan.quick} {tmp} -Dhadoop.log.dir={plan.root}/logs{agent}"
    names = ("HDFS_NAMENODE", "HDFS_DATANODE", "YARN_RESOURCEMANAGER", "YARN_NODEMANAGER")
    # Nodes have a mount of this file over /etc/hosts; on this machine Java reads it instead.
    named = f" -Djdk.net.hosts.file={plan.root}/conf/hosts" if plan.nodes else ""
    options += named
    lines = ["# Read by every command of this lab, as by Hadoop's own."]
    lines += [f"export JAVA_HOME={shlex.quote(str(plan.java_home))}"]
    lines += [f'export HADOOP_CLIENT_OPTS="{plan.quick}{named} ${{HADOOP_CLIENT_OPTS-}}"']
    lines += [f'export {name}_OPTS="{options}"' for name in names]
    return "\n".join(lines) + "\n"


def core(plan: ClusterPlan) -> dict[str, object]:
    found: dict[str, object] = {
        **(mounted(plan) if plan.over_mount else hdfs_default(plan)),
        "hadoop.tmp.dir": f"{plan.root}/data/tmp/hadoop-${{user.name}}",
    }
    if plan.nodes:
        found |= {
            "net.topology.node.switch.mapping.impl": "org.apache.hadoop.net.TableMapping",
            "net.topology.table.file.name": f"{plan.root}/conf/topology",
        }
    return found


def hdfs_default(plan: ClusterPlan) -> dict[str, object]:
    return {"fs.defaultFS": f"hdfs://{plan.head}:{plan.ports['namenode']}"}


def mounted(plan: ClusterPlan) -> dict[str, object]:
    """/ is the mount; what lies beside it is not to be reached."""
    return {
        "fs.defaultFS": "posix:///",
        "fs.posix.impl": "io.iostrata.posixfs.MountedFileSystem",
        "fs.AbstractFileSystem.posix.impl": "io.iostrata.posixfs.MountedFs",
        **plan.over_mount,
    }


def hdfs(plan: ClusterPlan) -> dict[str, object]:
    """On loopback DataNodes have port 0: the NameNode learns the real ones from them."""
    found: dict[str, object] = {
        "dfs.namenode.rpc-address": f"{plan.head}:{plan.ports['namenode']}",
        "dfs.namenode.http-address": f"{plan.head}:{plan.ports['namenode-http']}",
        "dfs.namenode.name.dir": f"file://{plan.root}/data/namenode",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.namenode.safemode.extension": 0,
        "dfs.heartbeat.interval": 1,
        "dfs.replication": min(3, plan.datanodes),
        "dfs.permissions.enabled": "false",
    }
    if plan.nodes:
        # Elsewhere a host has its own address and Hadoop's own ports, as in real clusters.
        return {**found, "dfs.datanode.data.dir": f"file://{plan.disk}/datanode"}
    return {
        **found,
        "dfs.datanode.address": "127.0.0.1:0",
        "dfs.datanode.ipc.address": "127.0.0.1:0",
        "dfs.datanode.http.address": "127.0.0.1:0",
        "dfs.datanode.hostname": "127.0.0.1",
    }


def yarn(plan: ClusterPlan) -> dict[str, object]:
    """Every address on loopback or in the lab's own network, heartbeats of a tenth of a second."""
    classpath = f"{plan.root}/conf,{plan.classes(',')}"
    ports = {name: f"{plan.head}:{plan.ports[name]}" for name in YARN_PORTS if name in plan.ports}
    if not ports:
        return {"yarn.application.classpath": classpath}
    containers = CONTAINERS_OF_NODE if plan.nodes else CONTAINERS
    properties: dict[str, object] = {
        "yarn.resourcemanager.hostname": plan.head,
        "yarn.resourcemanager.address": ports["resourcemanager"],
        "yarn.resourcemanager.scheduler.address": ports["scheduler"],
        "yarn.resourcemanager.resource-tracker.address": ports["tracker"],
        "yarn.resourcemanager.admin.address": ports["admin"],
        "yarn.resourcemanager.webapp.address": ports["resourcemanager-http"],
        # By default in /tmp, where labs of one user would share it and leave it behind.
        "yarn.node-attribute.fs-store.root-dir": f"file://{plan.root}/data/resourcemanager",
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": 100,
        "yarn.resourcemanager.connect.retry-interval.ms": 100,
        "yarn.resourcemanager.connect.max-wait.ms": 900000,
        "yarn.nodemanager.local-dirs": f"{plan.disk}/nodemanager",
        "yarn.nodemanager.log-dirs": f"{plan.root}/logs/containers",
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.nodemanager.resource.memory-mb": containers * CONTAINER_MB,
        "yarn.nodemanager.resource.cpu-vcores": containers,
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.pmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.5,
        "yarn.scheduler.minimum-allocation-mb": 256,
        "yarn.application.classpath": classpath,
    }
    if plan.forced:
        properties["yarn.resourcemanager.scheduler.class"] = PATIENT
    if plan.nodes:
        # One that did not know its port before could not come back as the same node.
        properties["yarn.nodemanager.address"] = "0.0.0.0:8041"
    else:
        properties |= {
            "yarn.nodemanager.hostname": "127.0.0.1",
            # With port 0 a restarted NodeManager would be a new node beside its lost self.
            "yarn.nodemanager.address": ports["nodemanager"],
            "yarn.nodemanager.localizer.address": ports["localizer"],
            "yarn.nodemanager.webapp.address": ports["nodemanager-http"],
        }
    if plan.agent:
        # Hadoop puts a colon between a job's own value and this one (Apps.addToEnvironment);
        # the blank keeps the option a word of its own.
        properties["yarn.nodemanager.admin-env.JAVA_TOOL_OPTIONS"] = f" {plan.agent.option}"
    return properties


def mapred(plan: ClusterPlan) -> dict[str, object]:
    java = f"-Xmx600m {plan.quick}"
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": f"{plan.root}/conf,{plan.classes(',')}",
        "mapreduce.shuffle.port": 0,
        "mapreduce.job.ubertask.enable": "false",
        "mapreduce.map.memory.mb": CONTAINER_MB,
        "mapreduce.reduce.memory.mb": CONTAINER_MB,
        "mapreduce.map.java.opts": java,
        "mapreduce.reduce.java.opts": java,
        "mapreduce.client.submit.file.replication": min(3, plan.datanodes),
        "mapreduce.client.progressmonitor.pollinterval": 200,
        "mapreduce.client.completion.pollinterval": 200,
        # Without a history server a client must not look for one once the job has ended.
        "mapreduce.jobhistory.address": "",
        "mapreduce.jobhistory.intermediate-done-dir": HISTORY,
        "mapreduce.jobhistory.done-dir": "/history/done",
        "mapreduce.jobhistory.jhist.format": "json",  # binary since 3.0, history.py reads text
        "yarn.app.mapreduce.am.staging-dir": STAGING,
        "yarn.app.mapreduce.am.resource.mb": CONTAINER_MB,
        "yarn.app.mapreduce.am.command-opts": java,
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 100,
    }


PATIENT = "io.iostrata.posixfs.PatientScheduler"  # of java/jobs
# Chances to go elsewhere that a task lets pass: it never does while the node that it wants lives.
FORCED = {
    "yarn.scheduler.capacity.node-locality-delay": 1_000_000,
    "yarn.scheduler.capacity.rack-locality-additional-delay": 1_000_000,
}
# The ResourceManager does not start without it.
SCHEDULER: dict[str, object] = {
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": 100,
    "yarn.scheduler.capacity.maximum-am-resource-percent": 0.5,
}


def scheduler(plan: ClusterPlan) -> dict[str, object]:
    return {**SCHEDULER, **(FORCED if plan.forced else {})}


LOG4J = """\
log4j.rootLogger=${hadoop.root.logger}
hadoop.root.logger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.logger.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit=OFF
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
"""
