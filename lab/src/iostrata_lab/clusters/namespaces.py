"""Nodes as hosts of their own: network, host name, mounts and a disk each.

    root namespace             hub                    node-1.rack-1
    NameNode, RM, clients                             DataNode, NodeManager
    iolab-7 198.19.7.254 ═══ head ┐                   ext4 on a loop device
                                  ├ bridge ═ node-1 ═ eth0 198.19.7.1
                                  ┘

A process that sleeps holds each of them: nothing has a name in /run/netns, no mount is seen by
others, and the kernel takes all of it away, loop devices too, when the holders end. They carry the
lab's mark, so that `lab down` finds them whatever became of the one that started them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from iostrata_lab.clusters import brakes, cgroups, nodes, processes
from iostrata_lab.clusters.brakes import Brake
from iostrata_lab.clusters.cgroups import Controller
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.nodes import DISK, Node
from iostrata_lab.clusters.processes import Identity

PROGRAMS = {
    **dict.fromkeys(("ip", "tc"), "iproute2"),
    **dict.fromkeys(("unshare", "nsenter", "mount", "losetup"), "util-linux mount"),
    "mkfs.ext4": "e2fsprogs",
}
PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
HUB = "hub"  # the bridge
IMAGES = "disks"  # folder of a lab
LARGEST, SMALLEST = 16 << 30, 1 << 30  # bytes of a node's disk
LOOPS = Path("/sys/block")
CACHES = Path("/sys/class/bdi")
LET_GO = 30.0  # seconds until the kernel has written back and let go of a disk
HOLD = "echo ready; exec sleep infinity < /dev/null > /dev/null 2>&1"
HUB_SCRIPT = f"ip link add {HUB} type bridge && ip link set {HUB} up && {HOLD}"
NODE_SCRIPT = f"""set -e
echo "$1" > /proc/sys/kernel/hostname
mount --bind "$2" /etc/hosts
mount -o loop,discard,noatime,noinit_itable "$3" "$4"
ip link set lo up
{HOLD}"""


@dataclass(frozen=True)
class Place:
    """What namespaces are made for: a lab, its folder, its subnet and the mark of its processes."""

    lab: str
    root: Path
    subnet: int
    env: Mapping[str, str]

    @property
    def disk(self) -> Path:
        """Where each node has its own disk; outside of nodes an empty folder."""
        return self.root / DISK

    @property
    def hosts(self) -> Path:
        return self.root / "conf" / "hosts"

    def image(self, node: Node) -> Path:
        return self.root / IMAGES / f"{node.name}.img"


def check() -> None:
    """Raises LabError where the machine lacks what nodes need."""
    if os.geteuid() != 0:
        raise LabError("nodes need root: they are namespaces, disks and cgroups", "use sudo")
    for program, package in PROGRAMS.items():
        if shutil.which(program, path=PATH) is None:
            raise LabError(f"nodes need {program}", f"apt-get install {package}")


def interfaces() -> list[str]:
    """The network interfaces of this machine."""
    return [path.name for path in Path("/sys/class/net").iterdir()]


def run(argv: Sequence[str]) -> None:
    """Run a command that must succeed. Raises LabError with what it said."""
    done = subprocess.run(
        argv, env={**os.environ, "PATH": PATH}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise _failed(argv, done.stderr)


def _failed(argv: Sequence[str], said: str) -> LabError:
    lines = said.strip().splitlines()
    return LabError(
        f"{' '.join(argv)}: {lines[0] if lines else 'failed'}",
        "nodes need a kernel with veth, bridge, tbf and loop, and the rights of the machine's root",
    )


def within(holder: int, argv: Sequence[str]) -> list[str]:
    """The command line that runs `argv` in the network of a holder."""
    return ["nsenter", "--target", str(holder), "--net", *argv]


def entering(
    place: Place, node: Node, argv: Sequence[str], cwd: Path, uid: int | None
) -> list[str]:
    """The command line that becomes `argv` on a node, in the folder `cwd`, as `uid` if given.

    Raises LabError if the node's namespaces or its disk are gone.
    """
    check_held(place, node)
    groups = cgroups.groups(cgroups.controllers(), place.lab, node.name)
    return cgroups.entering(groups, inside(node, argv, cwd, uid))


def check_held(place: Place, node: Node) -> None:
    """Raises LabError unless the node's namespaces and its disk are there."""
    if not processes.alive(node.holder):
        raise LabError(
            f"{node.name} of lab {place.lab} has lost its namespaces",
            f"end the lab and start it again: iostrata lab down {place.lab}",
        )
    _device(place, node.pid)


def inside(node: Node, argv: Sequence[str], cwd: Path, uid: int | None) -> list[str]:
    words = ["nsenter", "--target", str(node.pid), "--net", "--uts", "--mount"]
    if uid is not None and uid != os.geteuid():
        as_user = processes.credentials(uid)
        words += ["--setgid", str(as_user["group"]), "--setuid", str(as_user["user"])]
    # The kernel puts whoever enters a mount namespace into its topmost folder.
    return [*words, "sh", "-c", 'cd "$0" && exec "$@"', str(cwd), *argv]


def set_up(place: Place, planned: Sequence[Node]) -> Iterator[tuple[int, Node]]:
    """Make the network, then each node with its disk; yields the hub's holder and the node.

    Disks that are there keep what is on them. Raises LabError at the first step that fails.
    """
    hub = _hold(place, ["unshare", "--net", "sh", "-c", HUB_SCRIPT]).pid
    for command in _head(place, hub):
        run(command)
    _make_disks(place, planned)
    there = cgroups.controllers()
    for node in planned:
        holder = _hold(place, _node(place, node))
        device = _device(place, holder.pid)
        held = replace(node, pid=holder.pid, start=holder.start, device=device, brake=Brake())
        with suppress(LabError):  # else the page cache of the machine holds the same once more
            run(["losetup", "--direct-io=on", _block(device)])
        for command in _wired(held, hub):
            run(command)
        cgroups.make(there, place.lab, node.name)
        yield hub, set_brake(place, hub, held, node.brake)


def _hold(place: Place, argv: Sequence[str]) -> Identity:
    """Start a process that holds namespaces; returns when they are as `argv` makes them."""
    pipe = subprocess.PIPE
    holder = subprocess.Popen(
        argv,
        env={**place.env, "PATH": PATH},
        stdin=subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        start_new_session=True,
    )
    assert holder.stdout is not None
    assert holder.stderr is not None
    with holder.stdout as out, holder.stderr as err:
        if out.readline() != b"ready\n":
            said = err.read().decode(errors="replace")
            holder.wait()
            raise _failed(argv[: argv.index("sh")], said)
    return processes.adopt(holder)


def _node(place: Place, node: Node) -> list[str]:
    spaces = ["unshare", "--net", "--uts", "--mount", "--propagation", "slave"]
    what = [node.name, str(place.hosts), str(place.image(node)), str(place.disk)]
    return [*spaces, "sh", "-c", NODE_SCRIPT, "sh", *what]


def _head(place: Place, hub: int) -> list[list[str]]:
    """The wire between this machine and the hub."""
    own = nodes.interface(place.subnet)
    address = f"{nodes.head(place.subnet)}/24"
    return [
        ["ip", "link", "add", own, "type", "veth", "peer", "name", "head", "netns", str(hub)],
        ["ip", "link", "set", own, "alias", _alias(place)],
        ["ip", "address", "add", address, "dev", own],
        ["ip", "link", "set", own, "up"],
        within(hub, ["ip", "link", "set", "head", "master", HUB, "up"]),
    ]


def _wired(node: Node, hub: int) -> list[list[str]]:
    """The wire between a node and the hub."""
    port = ["ip", "link", "add", node.short, "type", "veth", "peer", "name", "eth0"]
    return [
        within(hub, [*port, "netns", str(node.pid)]),
        within(hub, ["ip", "link", "set", node.short, "master", HUB, "up"]),
        within(node.pid, ["ip", "address", "add", f"{node.address}/24", "dev", "eth0"]),
        within(node.pid, ["ip", "link", "set", "eth0", "up"]),
    ]


def _make_disks(place: Place, planned: Sequence[Node]) -> None:
    """An empty ext4 for each node that has none: files with holes, half of what is free at most."""
    place.disk.mkdir(exist_ok=True)
    (place.root / IMAGES).mkdir(exist_ok=True)
    size = min(LARGEST, shutil.disk_usage(place.root).free // (2 * len(planned)))
    if size < SMALLEST:
        raise LabError(
            f"{place.root}: {size >> 20} MiB for each node's disk, {SMALLEST >> 20} are needed",
            "free space, or choose another folder: IOSTRATA_LAB_HOME=…",
        )
    for image in (place.image(node) for node in planned):
        if not image.exists():
            image.touch(mode=0o600)
            os.truncate(image, size)
            # Inodes that were not yet written are empty all the same in a file with holes.
            options = ["-m", "0", "-J", "size=16", "-E", "lazy_itable_init=1,nodiscard"]
            run(["mkfs.ext4", "-q", "-F", *options, str(image)])


def on_disk(place: Place, node: Node) -> Path:
    """The topmost folder of a node's disk, as others get to it."""
    return Path(f"/proc/{node.pid}/root{place.disk}")


def _device(place: Place, holder: int) -> str:
    """MAJOR:MINOR of a node's disk. Raises LabError if nothing is mounted there.

    Whatever is written to a mount that failed would fill the machine's own disk.
    """
    outer, inner = place.disk.stat(), Path(f"/proc/{holder}/root{place.disk}").stat()
    if inner.st_dev == outer.st_dev:
        raise LabError(f"{place.disk} is no mount", "see the kernel's messages: dmesg")
    return f"{os.major(inner.st_dev)}:{os.minor(inner.st_dev)}"


def _block(device: str) -> str:
    return f"/dev/{Path(f'/sys/dev/block/{device}').resolve().name}"


def set_brake(place: Place, hub: int, node: Node, brake: Brake) -> Node:
    """Set all brakes of a node that is held; returns it with them.

    A brake on the disk first writes back and forgets what the page cache holds of it, which would
    be read at the speed of memory. Raises LabError; the brakes are then as they were.
    """
    there = cgroups.controllers()
    for name, asked in (("cpu", brake.cpu), ("io", brake.disk or brake.disk_ops)):
        if asked and name not in there:
            raise LabError(
                f"this machine has no cgroup controller {name!r}",
                "mount it, or leave the brake out",
            )
    if brake.dirty and not (CACHES / node.device / "strict_limit").exists():
        raise LabError(
            "this kernel has no limit of what waits for a disk", "6.2 or later has: leave dirty out"
        )
    if (brake.disk, brake.disk_ops) != (0, 0):
        _forget_pages(on_disk(place, node))
    try:
        _apply(place, hub, node, brake, there)
    except LabError:
        with suppress(LabError):
            _apply(place, hub, replace(node, brake=brake), node.brake, there)
        raise
    return replace(node, brake=brake)


def _apply(
    place: Place, hub: int, node: Node, brake: Brake, there: Mapping[str, Controller]
) -> None:
    if "io" in there:
        _throttle(place.lab, there["io"], node, brake)
    if brake.dirty or node.brake.dirty:
        cgroups.write(CACHES / node.device, brakes.cache(brake.dirty))
    if "cpu" in there:
        group = there["cpu"].group(place.lab, node.name)
        cgroups.write(group, brakes.quota(there["cpu"], brake.cpu))
    if brake.net or node.brake.net:
        run(within(node.pid, brakes.wire("eth0", brake.net)))
        run(within(hub, brakes.wire(node.short, brake.net)))


def _throttle(lab: str, io: Controller, node: Node, brake: Brake) -> None:
    group = io.root if io.version == 1 else io.group(lab, node.name)
    cgroups.write(group, brakes.throttle(io, node.device, brake))


def _forget_pages(folder: Path) -> None:
    for path in (Path(at) / name for at, _, names in os.walk(folder) for name in names):
        with suppress(OSError):  # removed a moment ago
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                os.fsync(handle)
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(handle)


def release(place: Place, known: Sequence[Node]) -> None:
    """Take the brakes from the disks of a lab: they would outlive it, and slow its end."""
    io = cgroups.controllers().get("io")
    own = _own_loops(place)
    held = {device.read_text().strip() for device in LOOPS.glob("loop*/dev") if _backed(device)}
    for device in own | {node.device for node in known if node.device} - (held - own):
        with suppress(LabError):  # no such device any more
            cgroups.write(CACHES / device, brakes.cache(0))
        if io is not None and io.version == 1:  # else a node's group takes its throttle with it
            with suppress(LabError):
                cgroups.write(io.root, brakes.throttle(io, device, Brake()))


def _backed(device: Path) -> str:
    with suppress(OSError):
        return (device.parent / "loop" / "backing_file").read_text().strip()
    return ""


def _own_loops(place: Place) -> set[str]:
    images = f"{place.root / IMAGES}/"
    loops = LOOPS.glob("loop*/dev")
    return {device.read_text().strip() for device in loops if _backed(device).startswith(images)}


def _own_links(place: Place) -> set[str]:
    found = set()
    for link in Path("/sys/class/net").iterdir():
        with suppress(OSError):  # gone since
            if (link / "ifalias").read_text().strip() == _alias(place):
                found.add(link.name)
    return found


def _alias(place: Place) -> str:
    return f"iostrata lab {place.lab}"


def tear_down(place: Place) -> None:
    """Remove what the end of a lab's processes leaves: groups. Waits until disks and links are let
    go: the kernel takes a namespace apart after its last process has ended.
    """
    cgroups.remove(cgroups.controllers().values(), place.lab)
    deadline = time.monotonic() + LET_GO
    while left := _own_loops(place) | _own_links(place):
        if time.monotonic() > deadline:
            raise LabError(
                f"devices {', '.join(sorted(left))} of lab {place.lab} are still in use",
                "losetup -l names the files of disks",
            )
        time.sleep(0.02)
