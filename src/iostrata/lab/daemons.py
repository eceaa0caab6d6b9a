"""Starting, watching and ending the daemons of a lab."""

from __future__ import annotations

import http.client
import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from iostrata.lab import layout, processes, state
from iostrata.lab.errors import LabError
from iostrata.lab.hadoop import conf, ready
from iostrata.lab.processes import Identity
from iostrata.lab.state import Daemon, State

START = (
    300.0  # seconds until daemons must be ready; 10 are usual, 150 have been seen on a busy host
)
END = 3.0  # seconds from SIGTERM to SIGKILL
TAIL, WIDTH = 15, 300  # lines of a log in an error, and characters of a line
NOISE = ("\tat ", "STARTUP_MSG:")
BIND = re.compile(r"java\.net\.BindException|Address already in use|Port in use")
NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
MARK = "IOSTRATA_LAB_ROOT"  # the variable by which a lab's processes are known
HADOOP_VARIABLE = re.compile(r"(HADOOP|HDFS|YARN|MAPRED)_|CLASSPATH$")


class PortTakenError(Exception):
    """A daemon died because another program has its port."""

    def __init__(self, error: LabError) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True)
class Launch:
    """How one daemon is started."""

    role: str
    group: str  # the key of daemon_users
    argv: list[str]


def launches(known: State, root: Path, first: bool) -> list[Launch]:
    """The daemons of a lab; on the `first` start the NameNode is formatted."""
    hdfs, yarn = str(root / "bin" / "hdfs"), str(root / "bin" / "yarn")
    namenode = [hdfs, "namenode"]
    if first:
        # By its class and so without the options of the daemon: no agent sees the formatting.
        script = f'"$0" {NAMENODE} -format -nonInteractive && exec "$0" namenode'
        namenode = ["bash", "-c", script, hdfs]
    # All start at once: who comes before its master must ask again soon, not every second.
    impatient = ["-D", "ipc.client.connect.retry.interval=100"]
    impatient += ["-D", "ipc.client.connect.max.retries=1200"]
    found = [Launch("namenode", "hdfs", namenode)]
    for number in range(1, known.datanodes + 1):
        role = f"datanode-{number}"
        folder = f"dfs.datanode.data.dir=file://{layout.data(root, role)}"
        found += [Launch(role, "hdfs", [hdfs, "datanode", "-D", folder, *impatient])]
    if known.yarn:
        found += [Launch("resourcemanager", "yarn", [yarn, "resourcemanager"])]
        found += [Launch("nodemanager", "yarn", [yarn, "nodemanager", *impatient])]
    return found


def start(known: State, root: Path, progress: Callable[[str], None], *, first: bool) -> None:
    """Start all daemons and wait until they can take work; keeps lab.json up to date.

    Raises PortTakenError or LabError with the end of the log of the daemon that failed.
    """
    env = {k: v for k, v in os.environ.items() if not HADOOP_VARIABLE.match(k)}
    env |= {"HADOOP_CONF_DIR": str(root / "conf"), MARK: str(root)}
    known.daemons = []
    for launch in launches(known, root, first):
        uid = known.daemon_users.get(launch.group)
        log = layout.log(root, launch.role)
        process = processes.spawn(launch.argv, env, log, root / "data" / "tmp", uid)
        owner = os.geteuid() if uid is None else uid
        known.daemons.append(Daemon(launch.role, process.pid, process.start, owner))
        state.save(known)
    deadline = time.monotonic() + START
    namenode = known.ports["namenode-http"]
    _wait(known, root, deadline, lambda: ready.hdfs_lacks(namenode, known.datanodes))
    if first:
        _wait(known, root, deadline, lambda: _make_folders(namenode))
    nodes = "DataNode" if known.datanodes == 1 else "DataNodes"
    progress(f"HDFS ready: hdfs://127.0.0.1:{known.ports['namenode']}, {known.datanodes} {nodes}")
    if known.yarn:
        manager = known.ports["resourcemanager-http"]
        _wait(known, root, deadline, lambda: ready.yarn_lacks(manager))
        progress(f"YARN ready: http://127.0.0.1:{manager}/")
    known.owner = {}
    known.ready = time.time()
    state.save(known)


def _make_folders(port: int) -> str:
    try:
        ready.make_folders(port, ["/tmp", conf.STAGING, "/user", "/history", conf.HISTORY])
    except (OSError, http.client.HTTPException) as error:
        return f"HDFS refuses to make its folders: {error}"
    return ""


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
    """End all processes of a lab: SIGTERM, and SIGKILL for what is left after 3 s."""
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
