"""MooseFS as a lab runs it: chunks of 64 MiB, copies and labels, as Hadoop's own file system has
them (S4.8).

The master is on this machine, a chunk server on each node, and all of them mount it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from string import ascii_uppercase

from iostrata_lab.clusters import layout, mounted
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop import onmount
from iostrata_lab.clusters.hadoop.lab import HadoopLab
from iostrata_lab.clusters.hadoop.onmount import OnMount
from iostrata_lab.clusters.lab import Lab
from iostrata_lab.clusters.nodes import DISK, Node, Topology
from iostrata_lab.clusters.starting import LabOrder, started
from iostrata_lab.clusters.state import State
from iostrata_lab.clusters.systems import Launch, Stage, System

PROGRAMS = ("mfsmaster", "mfschunkserver", "mfsmount", "mfssetgoal", "mfssettrashtime")
EMPTY = b"MFSM NEW"  # metadata of a file system that is to be made
STARTED = "daemon initialized properly"
REGISTERED = re.compile(r"chunkserver register begin .* - ip: ([\d.]+)")
CHUNKS, SERVER = "chunks", "chunkserver"  # folders on the disk of a node
# What is deleted gives its room back some 12 minutes later, not a day: clients hold an inode for
# eleven minutes after its last use, and the master looks for chunks without a file once a minute.
LOOP = "CHUNKS_LOOP_MIN_TIME = 60\n"  # s, the least that it takes
OWNER = "WORKING_USER = root\nWORKING_GROUP = root\nLOCK_MEMORY = 0\nNICE_LEVEL = 0\n"


def up(
    name: str,
    topology: Topology,
    *,
    copies: int = 2,
    preload: Mapping[str, str] | None = None,
    hadoop: OnMount | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Lab:
    """Start MooseFS, of which each file has `copies` of its chunks; returns when it is mounted.

    `preload` are variables with which all of its programs are started.
    With `hadoop` YARN runs on it, too.
    Raises LabError; whatever goes wrong, Ctrl-C included, nothing is left behind.
    """
    mounted.check(PROGRAMS)
    servers = len(topology.planned(subnet=0))
    if servers > len(ascii_uppercase):
        raise LabError(f"{servers} nodes", f"MooseFS has labels for {len(ascii_uppercase)}")
    mounted.check_copies(copies, servers)
    own = {"copies": copies, "preload": dict(preload or {})}
    order = LabOrder(name, MOOSEFS, topology, own=own)
    if hadoop is None:
        return Lab(started(order, progress), MOOSEFS)
    order = onmount.ordered(order, hadoop, progress, {"fs.posix.locations": "moosefs"})
    return HadoopLab(started(order, progress), MOOSEFS)


def fill(known: State, root: Path) -> None:
    """conf/, and the metadata of an empty file system."""
    master = layout.data(root, "master")
    layout.make_folder(master, None, 0o700)
    (master / "metadata.mfs").write_bytes(EMPTY)
    layout.make_folder(mounted.mount_point(root), None, 0o755)
    disk = root / DISK
    racks = sorted({node.rack for node in known.nodes})
    texts = {
        "mfsmaster.cfg": f"{OWNER}{LOOP}DATA_PATH = {master}\n"
        f"EXPORTS_FILENAME = {root}/conf/mfsexports.cfg\n"
        f"TOPOLOGY_FILENAME = {root}/conf/mfstopology.cfg\n"
        + "".join(f"MATO{who}_LISTEN_HOST = {known.head}\n" for who in ("ML", "CS", "CL")),
        "mfsexports.cfg": "* / rw,alldirs,admin,maproot=0:0\n* . rw\n",
        "mfstopology.cfg": "".join(
            f"{node.address} {racks.index(node.rack) + 1}\n" for node in known.nodes
        ),
        "mfshdd.cfg": f"{disk}/{CHUNKS}\n",
    }
    for node, label in zip(known.nodes, ascii_uppercase, strict=False):
        texts[f"{node.name}.cfg"] = (
            f"{OWNER}DATA_PATH = {disk}/{SERVER}\nHDD_CONF_FILENAME = {root}/conf/mfshdd.cfg\n"
            f"HDD_LEAVE_SPACE_DEFAULT = 64MiB\nMASTER_HOST = {known.head}\nLABELS = {label}\n"
        )
    for file, text in texts.items():
        layout.make_file(root / "conf" / file, text, 0o644)
    onmount.fill(known, root)


def fill_disk(known: State, disk: Path) -> None:
    for name in (CHUNKS, SERVER):
        (disk / name).mkdir(mode=0o700, exist_ok=True)
    onmount.fill_disk(known, disk)


def stages(known: State, root: Path, first: bool) -> Iterator[Stage]:
    """The master, then the chunk servers, which take long to ask again; then the mounts."""
    log = layout.log(root, "mfsmaster")
    server = mounted.found("mfschunkserver")
    master = _server(mounted.found("mfsmaster"), root / "conf" / "mfsmaster.cfg")
    yield Stage(
        (Launch("mfsmaster", master),),
        (lambda: "" if STARTED in _text(log) else "the master has not started",),
    )
    launches = [
        Launch(
            f"mfschunkserver-{number}", _server(server, root / "conf" / f"{node.name}.cfg"), node
        )
        for number, node in enumerate(known.nodes, 1)
    ]
    servers = f"{len(known.nodes)} chunk servers"
    yield Stage(
        tuple(launches),
        (lambda: _lacks_servers(log, known.nodes),),
        f"MooseFS ready: {known.head}, {servers}",
    )
    yield from mounted.mounting(known, root, "mfsmount", _client(known, root))
    if first:
        settings = (("mfssetgoal", known.copies), ("mfssettrashtime", 0))
        yield Stage((), tuple(partial(_set, tool, value, root) for tool, value in settings))
    yield from onmount.stages(known, root, first)


def _server(program: str, configuration: Path) -> list[str]:
    return [program, "-f", "-n", "-c", str(configuration), "start"]


def _client(known: State, root: Path) -> list[str]:
    return [mounted.found("mfsmount"), "-f", "-H", known.head, str(mounted.mount_point(root))]


def _text(log: Path) -> str:
    return log.read_text("utf-8", errors="replace")


def _lacks_servers(log: Path, nodes: list[Node]) -> str:
    there = set(REGISTERED.findall(_text(log)))
    count = len(there & {node.address for node in nodes})
    return f"{count} of {len(nodes)} chunk servers registered" if count < len(nodes) else ""


def _set(tool: str, value: int, root: Path) -> str:
    """For what will be written; '' once it is set."""
    done = subprocess.run(
        [mounted.found(tool), "-r", str(value), str(mounted.mount_point(root))],
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else f"{tool}: {done.stdout}{done.stderr}".strip()


def environment(known: State, root: Path) -> dict[str, str]:
    """Where it is mounted."""
    own = {mounted.VARIABLE: str(mounted.mount_point(root))}
    return {**onmount.environment(known, root), **own}


MOOSEFS = System("moosefs", fill, stages, environment, fill_disk)
