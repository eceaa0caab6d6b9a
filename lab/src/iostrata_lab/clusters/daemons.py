"""Starting, watching and ending the daemons of a lab."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

from iostrata_lab.clusters import layout, mounted, namespaces, processes, state
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.namespaces import Place
from iostrata_lab.clusters.processes import Identity
from iostrata_lab.clusters.state import Daemon, State
from iostrata_lab.clusters.systems import Launch, System

START = (
    300.0  # seconds until daemons must be ready; 10 are usual, 150 have been seen on a busy host
)
END = 3.0  # seconds from SIGTERM to SIGKILL
TAIL, WIDTH = 15, 300  # lines of a log in an error, and characters of a line
NOISE = ("\tat ", "STARTUP_MSG:")
BIND = re.compile(r"java\.net\.BindException|Address already in use|Port in use")
MARK = "IOSTRATA_LAB_ROOT"  # the variable by which a lab's processes are known
HADOOP_VARIABLE = re.compile(r"(HADOOP|HDFS|YARN|MAPRED)_|CLASSPATH$")


class PortTakenError(Exception):
    """A daemon died because another program has its port."""

    def __init__(self, error: LabError) -> None:
        super().__init__(str(error))
        self.error = error


def start(
    known: State, root: Path, system: System, progress: Callable[[str], None], *, first: bool
) -> None:
    """Start all daemons and wait until they can take work; keeps lab.json up to date.

    Raises PortTakenError or LabError with the end of the log of the daemon that failed.
    """
    env = {k: v for k, v in os.environ.items() if not HADOOP_VARIABLE.match(k)}
    env |= {"HADOOP_CONF_DIR": str(root / "conf"), MARK: str(root)}
    known.daemons = []
    place = Place(known.name, root, known.subnet, env)
    if known.nodes:
        _set_up(known, place, system, progress)
    deadline = time.monotonic() + START
    for stage in system.stages(known, root, first):
        for launch in stage.launches:
            known.daemons.append(_spawn(known, place, launch))
            state.save(known)
        for lacks in stage.waits:
            _wait(known, root, deadline, lacks)
        if stage.said:
            progress(stage.said)
    known.owner = {}
    known.ready = time.time()
    state.save(known)


def _set_up(known: State, place: Place, system: System, progress: Callable[[str], None]) -> None:
    """The nodes' namespaces, disks and brakes, written down one after the other."""
    for number, (hub, node) in enumerate(namespaces.set_up(place, list(known.nodes))):
        known.hub, known.nodes[number] = hub, node
        system.fill_disk(known, namespaces.on_disk(place, node))
        state.save(known)
    racks = {node.rack for node in known.nodes}
    on = "1 rack" if len(racks) == 1 else f"{len(racks)} racks"
    progress(f"network ready: {len(known.nodes)} nodes on {on}, head {known.head}")


def _spawn(known: State, place: Place, launch: Launch) -> Daemon:
    uid = known.daemon_users.get(launch.group)
    log, cwd = layout.log(place.root, launch.role), place.root / "data" / "tmp"
    owner = os.geteuid() if uid is None else uid
    preload = [f"{name}={value}" for name, value in known.preload.items()]
    argv = ["env", *preload, *launch.argv] if preload and not launch.is_jvm else launch.argv
    node = launch.node
    if node is not None:
        argv, uid = namespaces.entering(place, node, argv, cwd, uid), None
    process = processes.spawn(argv, place.env, log, cwd, uid)
    name = "" if node is None else node.name
    return Daemon(launch.role, process.pid, process.start, owner, name)


def _wait(known: State, root: Path, deadline: float, lacks: Callable[[], str]) -> None:
    while lack := lacks():
        for daemon in known.daemons:
            if not processes.alive(daemon.identity):
                raise _died(known, root, daemon.role)
        if time.monotonic() > deadline:
            kept = [layout.keep_log(root, daemon.role) for daemon in known.daemons]
            tails = "\n".join(f"{path}:\n{_tail(path, 3)}" for path in kept)
            raise LabError(f"not ready after {START:.0f} s: {lack}", "see the logs below", tails)
        time.sleep(0.1)


def _died(known: State, root: Path, role: str) -> Exception:
    log = layout.keep_log(root, role)
    error = LabError(
        f"the {role} of lab {known.name} ended while it started",
        f"see {log}, its last lines are below",
        _tail(log, TAIL),
    )
    return PortTakenError(error) if BIND.search(log.read_text(errors="replace")) else error


def _tail(log: Path, lines: int) -> str:
    text = log.read_text(errors="replace")
    # Frames and the class path would push what went wrong out of sight; the log has them.
    said = [line for line in text.splitlines() if not line.startswith(NOISE)]
    return "\n".join(line[:WIDTH] for line in said[-lines:])


def belonging(known: State, root: Path) -> list[Identity]:
    """The living processes of a lab: daemons, containers and what those have started."""
    daemons = []
    if known.boot == processes.boot():
        daemons = [d.pid for d in known.daemons if processes.alive(d.identity)]
    # Containers outlive their NodeManager in sessions of their own, and daemons an `up` that
    # was killed before it could write them down; all have inherited the mark.
    marked = processes.marked(f"{MARK}={root}")
    pids = {*daemons, *marked} | processes.descendants({*daemons, *marked})
    found = (processes.identify(pid) for pid in pids - {os.getpid()})
    return [process for process in found if process is not None]


def stop(known: State, root: Path) -> None:
    """End all processes of a lab: SIGTERM, and SIGKILL for what is left after 3 s.

    Of nodes nothing is left but the files that are their disks.
    """
    place = Place(known.name, root, known.subnet, {})
    if known.nodes:
        namespaces.release(place, known.nodes if known.boot == processes.boot() else [])
    _end(known, root)
    mounted.unmount(root)
    if known.nodes:
        namespaces.tear_down(place)


def _end(known: State, root: Path) -> None:
    left = belonging(known, root)
    for process in left:
        processes.send(process, signal.SIGTERM)
    processes.wait_gone(left, END)
    # Again from the start: a daemon may have forked in between.
    deadline = time.monotonic() + 10 * END
    while left := belonging(known, root):
        for process in left:
            processes.send(process, signal.SIGKILL)
        processes.wait_gone(left, END)
        if time.monotonic() > deadline:
            pids = ", ".join(str(process.pid) for process in left)
            raise LabError(f"processes {pids} of lab {known.name} do not end", "kill -9 them")
