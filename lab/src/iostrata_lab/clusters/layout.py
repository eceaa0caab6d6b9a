"""The lab's directory: what is where, and whose it is."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import time
from pathlib import Path

from iostrata_lab.clusters import machine
from iostrata_lab.clusters.hadoop import conf
from iostrata_lab.clusters.hadoop.conf import AgentOptions, ClusterPlan
from iostrata_lab.clusters.hadoop.versions import version_named
from iostrata_lab.clusters.state import State

LAUNCHER = Path(__file__).parent / "hadoop" / "launcher.sh"
PROGRAMS = ("hadoop", "hdfs", "yarn", "mapred")
HOSTS = Path("/etc/hosts")


def log(root: Path, role: str) -> Path:
    """Both outputs of a daemon, from its shell to its last line."""
    return root / "logs" / f"{role}.log"


def keep_log(root: Path, role: str) -> Path:
    """A copy of a log beside the lab's directory, to outlive a start that failed."""
    kept = root.parent / f"{root.name}.{role}.log"
    shutil.copyfile(log(root, role), kept)
    return kept


def forget_logs(root: Path) -> None:
    """Remove what `keep_log` kept."""
    for path in root.parent.glob(f"{root.name}.*.log"):
        path.unlink(missing_ok=True)


def data(root: Path, role: str) -> Path:
    return root / "data" / role


def make(known: State, root: Path, agent: AgentOptions | None) -> None:
    """Fill a lab's new directory: bin/, conf/, data/ and logs/."""
    yarn_uid, hdfs_uid = known.daemon_users.get("yarn"), known.daemon_users.get("hdfs")
    for name in ("bin", "conf", "data", "logs"):
        _folder(root / name, None, 0o755)
    _folder(root / "data" / "tmp", None, 0o1777)
    _folder(data(root, "namenode"), hdfs_uid, 0o700)
    if known.yarn:
        _folder(data(root, "resourcemanager"), yarn_uid, 0o755)
        _folder(root / "logs" / "containers", yarn_uid, 0o755)
    if not known.nodes:
        for number in range(1, known.datanodes + 1):
            _folder(data(root, f"datanode-{number}"), hdfs_uid, 0o700)
        if known.yarn:
            _folder(data(root, "nodemanager"), yarn_uid, 0o755)
    jdk = Path(known.java_home)
    plan = ClusterPlan(
        root=root,
        lib=Path(known.lib),
        java_home=jdk,
        ports=known.ports,
        datanodes=known.datanodes,
        agent=agent,
        jvm=version_named(known.hadoop).options(machine.java_version(jdk)),
        properties=known.properties,
        nodes=known.nodes,
        subnet=known.subnet,
        machine=socket.gethostname(),
        hosts=HOSTS.read_text() if known.nodes and HOSTS.exists() else "",
    )
    for name, text in conf.files(plan).items():
        _file(root / "conf" / name, text, 0o644)
    script = LAUNCHER.read_text().replace("@LIB@", shlex.quote(known.lib))
    for program in PROGRAMS:
        _file(root / "bin" / program, script, 0o755)


def make_on_disk(known: State, disk: Path) -> None:
    """Fill the disk of a node, unless that was done before: the folders of its daemons."""
    for group, role in (("hdfs", "datanode"), ("yarn", "nodemanager")):
        if not (disk / role).exists():
            _folder(disk / role, known.daemon_users.get(group), 0o700 if group == "hdfs" else 0o755)


def _folder(path: Path, uid: int | None, mode: int) -> None:
    path.mkdir()
    path.chmod(mode)  # whatever the umask
    if uid is not None:
        os.chown(path, uid, -1)


def _file(path: Path, text: str, mode: int) -> None:
    path.write_text(text)
    path.chmod(mode)


def remove(root: Path) -> None:
    """Remove the lab's directory, if there is one."""
    for _ in range(50):
        shutil.rmtree(root, ignore_errors=True)
        if not root.exists():
            return
        # Something killed a moment ago had a last file to write.
        time.sleep(0.1)
    shutil.rmtree(root)
