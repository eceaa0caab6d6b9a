"""File systems that a lab mounts: on this machine, and at the same place on each of its nodes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostrata_lab.clusters import namespaces
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.nodes import Node
from iostrata_lab.clusters.state import State
from iostrata_lab.clusters.systems import Launch, Stage

FOLDER = "mnt"  # of a lab
VARIABLE = "IOSTRATA_LAB_MOUNT"
MOUNTS = Path("/proc/self/mountinfo")
ESCAPED = re.compile(r"\\([0-7]{3})")  # a blank in a path is \\040
COPIES = 9  # at most, of a piece of a file
SETUP = "make setup-storage installs Debian's packages"


@dataclass(frozen=True)
class Mount:
    """A line of the kernel's list of mounts."""

    point: str
    kind: str  # ext4, fuse.ceph-fuse
    source: str


def mounts() -> list[Mount]:
    """Those that this process sees, in the order in which they were mounted."""
    found = []
    for line in MOUNTS.read_text("utf-8").splitlines():
        before, _, behind = line.partition(" - ")
        words = (before.split()[4], *behind.split()[:2])
        found.append(Mount(*(ESCAPED.sub(lambda code: chr(int(code[1], 8)), w) for w in words)))
    return found


def check_copies(copies: int, servers: int) -> None:
    """Raises LabError for more copies than there are servers, or none."""
    most = min(servers, COPIES)
    if not 1 <= copies <= most:
        raise LabError(f"{copies} copies on {servers} nodes", f"from 1 to {most} can be had")


def mount_point(root: Path) -> Path:
    return root / FOLDER


def check(programs: Sequence[str]) -> None:
    """Raises LabError where the machine lacks what a file system of nodes needs."""
    namespaces.check()
    if not Path("/dev/fuse").exists():
        raise LabError("this kernel has no FUSE: there is no /dev/fuse", "modprobe fuse")
    for program in programs:
        if not found(program):
            raise LabError(f"{program} is not installed", SETUP)


def found(program: str) -> str:
    """Its path, '' where it is not; servers are in folders that only root looks into."""
    places = (Path(folder) / program for folder in namespaces.PATH.split(":"))
    return next((str(path) for path in places if os.access(path, os.X_OK)), "")


def mounting(known: State, root: Path, role: str, client: list[str]) -> list[Stage]:
    """First this machine mounts it, then each node does: a mount of this machine is seen on nodes
    as well, and would cover theirs. `client` is the command that mounts and stays.
    """
    here = Stage((Launch(role, client),), (lambda: lacks_mount(root, None),))
    launches = [
        Launch(f"{role}-{number}", client, node) for number, node in enumerate(known.nodes, 1)
    ]
    waits = [_on_node(root, node) for node in known.nodes]
    said = f"mounted at {mount_point(root)}, here and on {len(known.nodes)} nodes"
    return [here, Stage(tuple(launches), tuple(waits), said)]


def _on_node(root: Path, node: Node) -> Callable[[], str]:
    return lambda: lacks_mount(root, node)


def lacks_mount(root: Path, node: Node | None) -> str:
    """What the mount still lacks, here or on a node; '' where it takes data."""
    pid, where = ("self", "here") if node is None else (node.pid, f"on {node.name}")
    at = Path(f"/proc/{pid}/root{mount_point(root)}")
    try:
        others = {root.stat().st_dev}
        if node is not None:  # which sees that of this machine as well
            others.add(mount_point(root).stat().st_dev)
        if at.stat().st_dev in others:
            return f"nothing is mounted at {mount_point(root)} {where}"
        return "" if os.statvfs(at).f_blocks else f"{mount_point(root)} has no space {where}"
    except OSError as error:
        return f"{mount_point(root)} cannot be asked {where}: {error.strerror}"


def unmount(root: Path) -> None:
    """Takes away what is mounted in the folder of a lab, dead or alive. Raises LabError."""
    for point in _mounted_below(root):
        done = subprocess.run(
            ["umount", "--lazy", point], capture_output=True, text=True, check=False
        )
        if done.returncode and point in _mounted_below(root):
            raise LabError(f"{point} cannot be unmounted: {done.stderr.strip()}", f"umount {point}")


def _mounted_below(root: Path) -> list[str]:
    """Mount points, those that were mounted last first."""
    return [one.point for one in reversed(mounts()) if one.point.startswith(f"{root}/")]
