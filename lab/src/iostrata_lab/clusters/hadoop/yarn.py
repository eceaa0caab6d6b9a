"""YARN as a lab runs it, on HDFS or on a mounted file system."""

from __future__ import annotations

from pathlib import Path

from iostrata_lab.clusters import layout
from iostrata_lab.clusters.hadoop import ready
from iostrata_lab.clusters.nodes import Node
from iostrata_lab.clusters.state import State
from iostrata_lab.clusters.systems import Launch, Stage

# All start at once: who comes before its master must ask again soon, not every second.
IMPATIENT = [
    *("-D", "ipc.client.connect.retry.interval=100"),
    *("-D", "ipc.client.connect.max.retries=1200"),
]


def fill(known: State, root: Path) -> None:
    """data/ and logs/ of the ResourceManager, and of a NodeManager without a node."""
    uid = known.daemon_users.get("yarn")
    layout.make_folder(layout.data(root, "resourcemanager"), uid, 0o755)
    layout.make_folder(root / "logs" / "containers", uid, 0o755)
    if not known.nodes:
        layout.make_folder(layout.data(root, "nodemanager"), uid, 0o755)


def fill_disk(known: State, disk: Path) -> None:
    """The folder of the NodeManager of a node, unless that was made before."""
    if not (disk / "nodemanager").exists():
        layout.make_folder(disk / "nodemanager", known.daemon_users.get("yarn"), 0o755)


def launches(known: State, root: Path) -> list[Launch]:
    """ResourceManager and NodeManagers."""
    yarn = str(root / "bin" / "yarn")
    found = [_launch("resourcemanager", [yarn, "resourcemanager"])]
    if not known.nodes:
        return [*found, _launch("nodemanager", [yarn, "nodemanager", *IMPATIENT])]
    for number, node in enumerate(known.nodes, 1):
        logs = f"yarn.nodemanager.log-dirs={root}/logs/containers/{node.name}"
        argv = [yarn, "nodemanager", "-D", logs, *IMPATIENT]
        found += [_launch(f"nodemanager-{number}", argv, node)]
    return found


def _launch(role: str, argv: list[str], node: Node | None = None) -> Launch:
    return Launch(role, argv, node, group="yarn", is_jvm=True)


def stage(known: State, started: tuple[Launch, ...] = ()) -> Stage:
    """Once YARN can take a job; `started` with it."""
    manager, managers = known.at("resourcemanager-http"), len(known.nodes) or 1
    lacks = (lambda: ready.yarn_lacks(manager, managers),)
    return Stage(started, lacks, f"YARN ready: http://{manager}/")
