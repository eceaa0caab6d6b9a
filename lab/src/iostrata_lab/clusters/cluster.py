"""A lab: its daemons from the first fork to the last signal."""

from __future__ import annotations

import os
import pwd
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iostrata_lab.clusters import (
    history,
    jars,
    layout,
    machine,
    namespaces,
    nodes,
    ports,
    processes,
    state,
)
from iostrata_lab.clusters.brakes import Brake
from iostrata_lab.clusters.daemons import PortTakenError, start, stop
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop import ready
from iostrata_lab.clusters.hadoop.conf import PORTS, YARN_PORTS, AgentOptions
from iostrata_lab.clusters.hadoop.versions import DEFAULT, version_named
from iostrata_lab.clusters.history import JobHistory
from iostrata_lab.clusters.nodes import Node, Topology
from iostrata_lab.clusters.state import Daemon, State

ATTEMPTS = 3  # at ports that nobody else takes between our look and the daemon's bind


@dataclass(frozen=True)
class DaemonStatus:
    """One daemon now; `rss` in bytes, `ports` those it listens on (root or its user only)."""

    role: str
    pid: int
    alive: bool
    rss: int
    ports: list[int]
    agent: bool
    log: Path
    node: Node | None  # None: this machine


class Lab:
    """A running lab, or what is left of one."""

    def __init__(self, known: State) -> None:
        self.state = known
        self.name = known.name
        self.root = state.folder(known.name)

    def __repr__(self) -> str:
        return f"Lab({self.name!r}, {self.root})"

    @property
    def running(self) -> bool:
        """True while any of its daemons lives."""
        return self.state.running()

    @property
    def conf_dir(self) -> Path:
        return self.root / "conf"

    @property
    def examples_jar(self) -> Path:
        """hadoop-mapreduce-examples, for `hadoop jar`."""
        return next(Path(self.state.lib).glob("hadoop-mapreduce-examples-*.jar"))

    def daemons(self) -> list[Daemon]:
        """Role, pid and uid of every daemon, dead or alive."""
        return list(self.state.daemons)

    def status(self) -> list[DaemonStatus]:
        """Every daemon as it is now."""
        return [self._status(daemon) for daemon in self.state.daemons]

    def _status(self, daemon: Daemon) -> DaemonStatus:
        alive = self.state.boot == processes.boot() and processes.alive(daemon.identity)
        words = processes.command(daemon.pid) if alive else []
        return DaemonStatus(
            role=daemon.role,
            pid=daemon.pid,
            alive=alive,
            rss=processes.rss(daemon.pid) if alive else 0,
            ports=processes.listening(daemon.pid) if alive else [],
            agent=any(word.startswith(("-javaagent:", "-agentpath:")) for word in words),
            log=layout.log(self.root, daemon.role),
            node=nodes.find(self.state.nodes, daemon.node) if daemon.node else None,
        )

    def nodes(self) -> list[Node]:
        """Its nodes with their brakes; none if all daemons are on loopback."""
        return list(self.state.nodes)

    def brake(self, name: str, change: Callable[[Brake], Brake]) -> Node:
        """Change the brakes of a node (`node-1` or `node-1.rack-1`); returns it with them.

        Raises LabError; the brakes are then as they were.
        """
        with state.exclusive():
            known = state.load(self.name) or self.state
            node = nodes.find(known.nodes, name)
            place = namespaces.Place(self.name, self.root, known.subnet, {})
            namespaces.check_held(place, node)
            braked = namespaces.set_brake(place, known.hub, node, change(node.brake))
            known.nodes[known.nodes.index(node)] = braked
            state.save(known)
        self.state = known
        return braked

    def log_path(self, role: str) -> Path:
        """The log of a role: namenode, datanode-1 (or datanode), resourcemanager, nodemanager."""
        roles = [daemon.role for daemon in self.state.daemons]
        for known in roles:
            if known in (role, f"{role}-1"):
                return layout.log(self.root, known)
        raise LabError(f"lab {self.name} has no {role!r}", f"it has: {', '.join(roles)}")

    def environment(self) -> dict[str, str]:
        """The variables with which commands find this lab, to be laid over one's own."""
        path = os.environ.get("PATH", os.defpath)
        return {
            "PATH": f"{self.root}/bin:{path}",
            "JAVA_HOME": self.state.java_home,
            "HADOOP_CONF_DIR": f"{self.conf_dir}",
            "YARN_CONF_DIR": f"{self.conf_dir}",
            "CLASSPATH": f"{self.conf_dir}:{self.state.lib}/*",
            "IOSTRATA_LAB": self.name,
        }

    def popen(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        user: int | None = None,
        **options: Any,
    ) -> subprocess.Popen[str]:
        """Start a command in the lab's environment with `env` over it, as `user` if given.

        Another user's command starts in the lab's tmp folder unless `cwd` is among `options`,
        which are Popen's.
        """
        merged = {**os.environ, **self.environment()}
        if user is not None and user != os.geteuid():
            machine.check_user(user)
            machine.check_open(self.root)
            entry = pwd.getpwuid(user)
            merged |= {"HOME": entry.pw_dir, "USER": entry.pw_name, "LOGNAME": entry.pw_name}
            options.setdefault("cwd", self.root / "data" / "tmp")
            options |= processes.credentials(user)
        return subprocess.Popen(list(argv), env={**merged, **(env or {})}, text=True, **options)

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        user: int | None = None,
        timeout: float | None = None,
        check: bool = False,
        **options: Any,
    ) -> subprocess.CompletedProcess[str]:
        """`popen` and wait. `capture_output`, `timeout` and `check` as in subprocess.run.

        Raises CalledProcessError (with `check`) or TimeoutExpired, the command killed.
        """
        options.pop("text", None)
        if options.pop("capture_output", False):
            options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with self.popen(argv, env=env, user=user, **options) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except BaseException:
                process.kill()
                raise
        if check and process.returncode:
            raise subprocess.CalledProcessError(process.returncode, list(argv), out, err)
        return subprocess.CompletedProcess(list(argv), process.returncode, out, err)

    def job_history(self, job_id: str, timeout: float = 30.0) -> JobHistory:
        """Hadoop's own counters of an ended job; `timeout` in seconds, for its last writes."""
        return history.parse(history.fetch(self.state.hdfs, job_id, timeout))

    def attempts(self, job_id: str, timeout: float = 30.0) -> list[str]:
        """The attempts of an ended job that were started, by its history; `timeout` as above."""
        return history.started(history.fetch(self.state.hdfs, job_id, timeout))

    def configuration(self, job_id: str, timeout: float = 30.0) -> bytes:
        """The XML of all that was set for an ended job; it may hold secrets."""
        return history.fetch_configuration(self.state.hdfs, job_id, timeout)

    def datanodes(self) -> list[tuple[str, str, str, int | None]]:
        """The DataNodes that the NameNode lists: address, rack, node, and the process if known.

        The node is empty for one of this machine. Raises LabError when the NameNode does not
        answer.
        """
        listed = ready.datanodes(self.state.at("namenode-http"))
        if listed is None:
            raise LabError("the NameNode does not answer", f"see {self.log_path('namenode')}")
        known = [daemon for daemon in self.state.daemons if daemon.role.startswith("datanode")]
        pids = {(d.node, port): d.pid for d in known for port in processes.listening(d.pid)}
        names = {node.address: node.name for node in self.state.nodes}
        found = []
        for address, rack in listed:
            host, _, port = address.rpartition(":")
            node = names.get(host, "")
            found.append((address, rack, node, pids.get((node, int(port)))))
        return found

    def restart(self, progress: Callable[[str], None] = lambda _: None) -> None:
        """End all daemons and start them again on the same configuration files and data."""
        stop(self.state, self.root)
        try:
            start(self.state, self.root, progress, first=False)
        except BaseException:
            stop(self.state, self.root)
            raise

    def down(
        self, progress: Callable[[str], None] = lambda _: None, *, forget_logs: bool = True
    ) -> None:
        """End every process of the lab and remove its directory."""
        progress(f"ending lab {self.name}")
        stop(self.state, self.root)
        layout.remove(self.root)
        if forget_logs:
            layout.forget_logs(self.root)


def list_labs() -> list[Lab]:
    """All labs with a directory, running or not, by name."""
    found = (state.load(name) for name in state.names())
    return [Lab(known) for known in found if known is not None]


def find(name: str | None = None) -> Lab:
    """The lab of that name, or the one running (the last started of several).

    Raises LabError if there is none.
    """
    if name is not None:
        known = state.load(name)
        if known is not None:
            return Lab(known)
        raise LabError(f"no lab {name!r}", f"there is: {', '.join(state.names()) or 'none'}")
    running = [lab for lab in list_labs() if lab.running]
    if not running:
        left = "".join(f", or remove the rest: iostrata lab down {name}" for name in state.names())
        raise LabError("no lab is running", f"start one: iostrata lab up hadoop{left}")
    return max(running, key=lambda lab: lab.state.ready)


def up(
    name: str = "hadoop",
    *,
    version: str = DEFAULT.name,
    datanodes: int = 1,
    topology: Topology | None = None,
    agent: AgentOptions | None = None,
    daemon_users: Mapping[str, int] | None = None,
    java_home: Path | None = None,
    yarn: bool = True,
    properties: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Lab:
    """Start HDFS and YARN as real processes; returns when they can take a job.

    With a `topology` (root only) each node of it has a DataNode and a NodeManager, and `datanodes`
    says nothing. `version` is one of `lab.hadoop.versions`; `daemon_users` gives uids for "hdfs"
    and "yarn" (root only); `yarn=False` starts HDFS alone; `properties` of Hadoop go over ours.
    Raises LabError; whatever goes wrong, Ctrl-C included, nothing is left behind.
    """
    users = dict(daemon_users or {})
    hadoop = version_named(version)
    if datanodes < 1:
        raise LabError(f"{datanodes} DataNodes", "at least one is needed")
    if topology is not None:
        namespaces.check()
        datanodes = len(topology.planned(subnet=0))
    machine.check_users(users)
    machine.check_words(state.folder(name))
    if agent is not None:
        machine.check_agent(agent)
        if users:
            machine.check_open(agent.jar, "copy the jar to a folder open to all")
    jdk = machine.java_home(java_home, hadoop)
    if topology is not None:
        machine.check_hosts_file(jdk)
    lib = jars.fetch(progress, hadoop)
    over = dict(properties or {})
    order = _Order(name, hadoop.name, jdk, lib, datanodes, topology, yarn, users, agent, over)
    began = time.monotonic()
    for attempt in range(1, ATTEMPTS + 1):
        try:
            lab = _try(order, progress, last=attempt == ATTEMPTS)
        except PortTakenError:
            progress("another program took one of the ports, again with others")
        else:
            progress(f"ready after {time.monotonic() - began:.1f} s")
            return lab
    raise AssertionError("the last attempt either returns or raises LabError")


@dataclass(frozen=True)
class _Order:
    """What `up` was asked for."""

    name: str
    version: str
    jdk: Path
    lib: Path
    datanodes: int
    topology: Topology | None
    yarn: bool
    users: dict[str, int]
    agent: AgentOptions | None
    properties: dict[str, str]


def _try(order: _Order, progress: Callable[[str], None], *, last: bool) -> Lab:
    lab = Lab(_claim(order, progress))
    try:
        layout.make(lab.state, lab.root, order.agent)
        start(lab.state, lab.root, progress, first=True)
    except PortTakenError as taken:
        _remove(lab, forget_logs=not last)
        if last:
            raise taken.error from taken
        raise
    except BaseException:
        _remove(lab, forget_logs=False)
        raise
    return lab


def _remove(lab: Lab, *, forget_logs: bool) -> None:
    """What could not start is ended to its end, also where Ctrl-C comes meanwhile."""
    try:
        lab.down(forget_logs=forget_logs)
    except KeyboardInterrupt:
        lab.down(forget_logs=forget_logs)
        raise


def _claim(order: _Order, progress: Callable[[str], None]) -> State:
    """Take the name and the ports, so that no other `up` takes them; writes lab.json."""
    root = state.folder(order.name)
    with state.exclusive():
        _clear(order.name, progress)
        taken = {port for lab in list_labs() for port in lab.state.ports.values()}
        # Root's cache lies where the daemons of other users cannot read it.
        linked = os.geteuid() == 0 and machine.closed(order.lib) is not None
        known = _first_state(order, root / "lib" if linked else order.lib, taken)
        if order.users:
            machine.check_open(root.parent)
        root.mkdir()
        try:
            root.chmod(0o755)
            if linked:
                jars.link(order.lib, root / "lib")
            state.save(known)
        except BaseException:
            layout.remove(root)
            raise
    return known


def _clear(name: str, progress: Callable[[str], None]) -> None:
    """Remove what is left of a lab; raises LabError if it runs."""
    old = state.load(name)
    if old is not None and old.running():
        doing = "is being started" if old.owner else "is already running"
        raise LabError(f"lab {name} {doing}", f"end it: iostrata lab down {name}")
    if old is not None:
        progress(f"removing what is left of lab {name}")
        Lab(old).down()
    root = state.folder(name)
    if root.exists():
        raise LabError(f"{root} exists and is no lab", "choose another name, or remove it")
    layout.forget_logs(root)


def _first_state(order: _Order, lib: Path, taken: set[int]) -> State:
    me = processes.identify(os.getpid())
    assert me is not None
    agent, topology = order.agent, order.topology
    subnet = 0
    if topology is not None:
        subnets = {lab.state.subnet for lab in list_labs()}
        subnet = nodes.free_subnet(subnets, namespaces.interfaces())
    return State(
        name=order.name,
        boot=processes.boot(),
        owner={"pid": me.pid, "start": me.start},
        java_home=str(order.jdk),
        lib=str(lib),
        datanodes=order.datanodes,
        yarn=order.yarn,
        daemon_users=order.users,
        agent={"jar": str(agent.jar), "dir": str(agent.dir)} if agent else None,
        ports=ports.pick(PORTS + (YARN_PORTS if order.yarn else ()), taken),
        hadoop=order.version,
        properties=order.properties,
        nodes=topology.planned(subnet) if topology else [],
        subnet=subnet,
    )
