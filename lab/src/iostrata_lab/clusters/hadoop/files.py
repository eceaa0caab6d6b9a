"""What Hadoop has in the folder of a lab: its configuration and its launchers."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from iostrata_lab.clusters import layout, machine, mounted
from iostrata_lab.clusters.hadoop import conf
from iostrata_lab.clusters.hadoop.conf import OVER_MOUNT, AgentOptions, ClusterPlan
from iostrata_lab.clusters.hadoop.versions import version_named
from iostrata_lab.clusters.state import State

LAUNCHER = Path(__file__).parent / "launcher.sh"
PROGRAMS = ("hadoop", "hdfs", "yarn", "mapred")


def make(known: State, root: Path) -> None:
    """conf/ and bin/; without HDFS also the jar that reads and writes what is mounted."""
    if known.over_mount:
        shutil.copyfile(known.over_mount["jar"], root / "bin" / OVER_MOUNT)
    plan = _plan(known, root)
    for name, text in conf.files(plan).items():
        layout.make_file(root / "conf" / name, text, 0o644)
    script = LAUNCHER.read_text().replace("@CLASSES@", shlex.quote(plan.classes(":")))
    for program in PROGRAMS:
        layout.make_file(root / "bin" / program, script, 0o755)


def _plan(known: State, root: Path) -> ClusterPlan:
    jdk, agent = Path(known.java_home), known.agent
    return ClusterPlan(
        root=root,
        lib=Path(known.lib),
        java_home=jdk,
        ports=known.ports,
        datanodes=known.datanodes,
        agent=AgentOptions(Path(agent["jar"]), Path(agent["dir"])) if agent else None,
        jvm=version_named(known.hadoop).options(machine.java_version(jdk)),
        properties=known.properties,
        nodes=known.nodes,
        subnet=known.subnet,
        over_mount=_over_mount(known, root) if known.over_mount else {},
    )


def _over_mount(known: State, root: Path) -> dict[str, object]:
    """Properties of the file system that stands in for HDFS."""
    own = {name: value for name, value in known.over_mount.items() if name != "jar"}
    return {
        "fs.posix.mount": str(mounted.mount_point(root)),
        "fs.posix.nodes": ",".join(node.name for node in known.nodes),
        **own,
    }


def environment(known: State, root: Path) -> Mapping[str, str]:
    """The variables with which commands find this Hadoop."""
    path = os.environ.get("PATH", os.defpath)
    # nodes reach the driver of Spark there; by itself it takes an address that they have no way to
    spark = {"SPARK_LOCAL_IP": known.head} if known.nodes else {}
    classes = f"{known.lib}/*" + (f":{root}/bin/{OVER_MOUNT}" if known.over_mount else "")
    return {
        "PATH": f"{root}/bin:{path}",
        "JAVA_HOME": known.java_home,
        "HADOOP_CONF_DIR": f"{root}/conf",
        "YARN_CONF_DIR": f"{root}/conf",
        "CLASSPATH": f"{root}/conf:{classes}",
        **spark,
    }
