"""CephFS as a lab runs it: files striped over objects on all servers, as file systems of HPC have
them (S4.8).

Monitor, manager and metadata server are on this machine, an object server on each node, and all of
them mount it by FUSE.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

from iostrata_lab.clusters import layout, mounted, state
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop import onmount
from iostrata_lab.clusters.hadoop.lab import HadoopLab
from iostrata_lab.clusters.hadoop.onmount import OnMount
from iostrata_lab.clusters.lab import Lab
from iostrata_lab.clusters.nodes import DISK, Node, Topology, head
from iostrata_lab.clusters.starting import LabOrder, started
from iostrata_lab.clusters.state import State
from iostrata_lab.clusters.systems import Launch, Stage, System

PROGRAMS = ("ceph-mon", "ceph-mgr", "ceph-mds", "ceph-osd", "ceph-fuse", "ceph", "monmaptool")
SHARE = 0.9  # of a node's disk that its objects may have
PATIENCE = 5  # s that a command waits for the monitor
GROUPS = 32  # placement groups of the data; one group is always on the same servers
MIB = 1 << 20


@dataclass(frozen=True)
class Striping:
    """How a file lies on objects: `unit` bytes on each of `count` objects of `size` in turn."""

    unit: int
    count: int
    size: int

    def __str__(self) -> str:
        return f"stripe_unit={self.unit} stripe_count={self.count} object_size={self.size}"


# As HPC has it, and as large as a chunk of MooseFS.
LAYOUTS = {"striped": Striping(64 << 10, 4, 4 * MIB), "large": Striping(64 * MIB, 1, 64 * MIB)}


def up(
    name: str,
    topology: Topology,
    *,
    copies: int = 2,
    striping: str = "striped",
    preload: Mapping[str, str] | None = None,
    hadoop: OnMount | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Lab:
    """Start Ceph with a file system, of which each object has `copies`; returns when it is mounted.

    `striping` is one of LAYOUTS; `preload` are variables that all of its programs start with.
    With `hadoop` YARN runs on it, too.
    Raises LabError; whatever goes wrong, Ctrl-C included, nothing is left behind.
    """
    mounted.check(PROGRAMS)
    mounted.check_copies(copies, len(topology.planned(subnet=0)))
    if striping not in LAYOUTS:
        raise LabError(f"no layout is called {striping!r}", f"one of {', '.join(LAYOUTS)}")
    own = {"copies": copies, "striping": striping, "preload": dict(preload or {})}
    order = LabOrder(name, CEPHFS, topology, own=own)
    if hadoop is None:
        return Lab(started(order, progress), CEPHFS)
    order = onmount.ordered(order, hadoop, progress, _locations(name, striping))
    return HadoopLab(started(order, progress), CEPHFS)


def _locations(name: str, striping: str) -> dict[str, str]:
    """How Hadoop finds out on which node a block is: of a striped file it is on many."""
    lies = LAYOUTS[striping]
    return {
        "fs.posix.locations": "cephfs",
        "fs.posix.ceph.conf": str(_conf(state.folder(name))),
        "fs.posix.ceph.object.size": str(lies.size if lies.count == 1 else 0),
    }


def fill(known: State, root: Path) -> None:
    """conf/, and a folder for each server of this machine."""
    for role in ("mon", "mgr", "mds"):
        layout.make_folder(layout.data(root, role), None, 0o700)
    layout.make_folder(mounted.mount_point(root), None, 0o755)
    layout.make_file(_conf(root), configuration(known, root), 0o644)
    onmount.fill(known, root)


def _conf(root: Path) -> Path:
    return root / "conf" / "ceph.conf"


def _uuid(known: State, what: str) -> str:
    return str(uuid5(NAMESPACE_OID, f"{known.boot} {known.name} {what}"))


def configuration(known: State, root: Path) -> str:
    """ceph.conf: who may come has been decided by who can reach the network of the lab."""
    settings = {
        "fsid": _uuid(known, "cluster"),
        "mon_host": _monitor(known),
        "public_network": f"{head(known.subnet).rpartition('.')[0]}.0/24",
        **dict.fromkeys(
            ("auth_cluster_required", "auth_service_required", "auth_client_required"), "none"
        ),
        "log_to_stderr": "true",
        **dict.fromkeys(("log_file", "mon_cluster_log_file"), "/dev/null"),
        "admin_socket": "",
        **{f"{role}_data": str(layout.data(root, role)) for role in ("mon", "mgr", "mds")},
        "osd_data": f"{root / DISK}/osd",
        "osd_pool_default_size": str(known.copies),
        "osd_pool_default_min_size": "1",
        "osd_pool_default_pg_autoscale_mode": "off",
        "mon_allow_pool_size_one": "true",
        "mon_data_avail_crit": "0",  # of the disk of this machine, which is not the lab's
        "mgr_initial_modules": "",
        "bluestore_cache_autotune": "false",
        "bluestore_cache_size": str(64 * MIB),
    }
    lines = ["[global]", *(f"{name} = {value}" for name, value in settings.items())]
    for number, node in enumerate(known.nodes):
        rack = node.rack.strip("/")
        lines += [f"[osd.{number}]", f"crush_location = root=default rack={rack} host={node.short}"]
    return "\n".join(lines) + "\n"


def _monitor(known: State) -> str:
    return f"[v2:{known.head}:3300,v1:{known.head}:6789]"


def stages(known: State, root: Path, first: bool) -> Iterator[Stage]:
    """The monitor, which then learns what there will be; the servers; the mounts."""
    yield Stage(
        (
            Launch("ceph-mon", _made(_make_monitor(known, root), _server(root, "mon", "a"), first)),
            Launch("ceph-mgr", _server(root, "mgr", "a")),
        ),
        (lambda: _ask(root, _announcements(known) if first else ["osd stat"]),),
    )
    launches = [
        Launch(f"ceph-osd-{number + 1}", _object_server(known, root, number, node, first), node)
        for number, node in enumerate(known.nodes)
    ]
    yield Stage(
        (*launches, Launch("ceph-mds", _server(root, "mds", "a"))),
        (lambda: _lacks_servers(root, len(known.nodes)),),
        f"Ceph ready: {known.head}, {len(known.nodes)} object servers",
    )
    mount = str(mounted.mount_point(root))
    client = [mounted.found("ceph-fuse"), "-f", "-c", str(_conf(root)), "-o", "allow_other", mount]
    yield from mounted.mounting(known, root, "ceph-fuse", client)
    if first:
        yield Stage((), (lambda: _set_layout(known, root),))
    yield from onmount.stages(known, root, first)


def _server(root: Path, kind: str, name: str) -> list[str]:
    return [mounted.found(f"ceph-{kind}"), "-f", "-c", str(_conf(root)), "-i", name]


def _made(make: list[list[str]], server: list[str], first: bool) -> list[str]:
    """The command of a server, which on its first start makes what it serves."""
    if not first:
        return server
    return ["sh", "-c", " && ".join([*map(shlex.join, make), f"exec {shlex.join(server)}"])]


def _make_monitor(known: State, root: Path) -> list[list[str]]:
    # Not in the folder that everybody may write to: a link there would send root elsewhere.
    monmap = str(layout.data(root, "mgr") / "monmap")
    fsid = _uuid(known, "cluster")
    made = ["--create", "--fsid", fsid, "--addv", "a", _monitor(known), monmap]
    return [
        [mounted.found("monmaptool"), *made],
        [*_server(root, "mon", "a"), "--mkfs", "--monmap", monmap],
    ]


def _object_server(known: State, root: Path, number: int, node: Node, first: bool) -> list[str]:
    server = _server(root, "osd", str(number))
    space = os.statvfs(f"/proc/{node.pid}/root{root / DISK}")
    size = int(space.f_bavail * space.f_frsize * SHARE)
    make = ["--mkfs", "--osd-uuid", _uuid(known, f"osd {number}")]
    return _made([[*server, *make, "--bluestore-block-size", str(size)]], server, first)


def fill_disk(known: State, disk: Path) -> None:
    (disk / "osd").mkdir(mode=0o700, exist_ok=True)
    onmount.fill_disk(known, disk)


def _announcements(known: State) -> list[str]:
    """What the monitor must know before the servers come; said again, it changes nothing."""
    servers = [f"osd new {_uuid(known, f'osd {n}')} {n}" for n in range(len(known.nodes))]
    pools = ["osd pool create metadata 8", f"osd pool create data {GROUPS}"]
    return [*servers, *pools, "fs new cephfs metadata data"]


def _ask(root: Path, commands: list[str]) -> str:
    """What the monitor does not do of some commands, in words; '' when it has done all."""
    done = _ceph(root, "\n".join(commands) + "\n")
    said = done.stdout + done.stderr
    wrong = [line for line in said.splitlines() if line.startswith("Error")]
    if wrong or done.returncode:
        return f"the monitor: {wrong[0] if wrong else said.strip()[-200:] or 'no answer'}"
    return ""


def _ceph(root: Path, commands: str, *words: str) -> subprocess.CompletedProcess[str]:
    ceph = [mounted.found("ceph"), "-c", str(_conf(root)), "--connect-timeout", str(PATIENCE)]
    return subprocess.run(
        [*ceph, *words], input=commands, capture_output=True, text=True, check=False
    )


def _lacks_servers(root: Path, servers: int) -> str:
    """Who is not there yet; '' once files can be had."""
    done = _ceph(root, "", "status", "--format", "json")
    if done.returncode:
        return "the monitor does not answer"
    status = json.loads(done.stdout)
    there = status["osdmap"]["num_up_osds"]
    if there < servers:
        return f"{there} of {servers} object servers are up"
    ranks = [rank["status"] for rank in status["fsmap"].get("by_rank", [])]
    return "" if "up:active" in ranks else f"the metadata server is {ranks or 'not there'}"


def _set_layout(known: State, root: Path) -> str:
    """Of files that will be made; '' once it is set."""
    try:
        value = str(LAYOUTS[known.striping]).encode()
        os.setxattr(mounted.mount_point(root), "ceph.dir.layout", value)
    except OSError as error:
        return f"the layout of files cannot be set: {error.strerror}"
    return ""


def environment(known: State, root: Path) -> dict[str, str]:
    """Where it is mounted, and how `ceph` finds it."""
    own = {mounted.VARIABLE: str(mounted.mount_point(root)), "CEPH_CONF": str(_conf(root))}
    return {**onmount.environment(known, root), **own}


CEPHFS = System("cephfs", fill, stages, environment, fill_disk)
