"""A lab: its daemons from the first fork to the last signal."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iostrata_lab.clusters import layout, machine, namespaces, nodes, processes, starting, state
from iostrata_lab.clusters.brakes import Brake
from iostrata_lab.clusters.daemons import start, stop
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.nodes import Node
from iostrata_lab.clusters.state import Daemon, State
from iostrata_lab.clusters.systems import System


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

    def __init__(self, known: State, system: System) -> None:
        self.state, self.system = known, system
        self.name = known.name
        self.root = state.folder(known.name)

    def __repr__(self) -> str:
        return f"Lab({self.name!r}, {self.root})"

    @property
    def running(self) -> bool:
        """True while any of its daemons lives."""
        return self.state.running()

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

    def on_node(self, name: str, argv: Sequence[str]) -> list[str]:
        """The command line that runs `argv` on a node, in its folder of today, with its network,
        its disk and its brakes. Raises LabError.
        """
        node = nodes.find(self.state.nodes, name)
        place = namespaces.Place(self.name, self.root, self.state.subnet, {})
        return namespaces.entering(place, node, argv, Path.cwd(), None)

    def log_path(self, role: str) -> Path:
        """The log of a role: namenode, datanode-1 (or datanode), resourcemanager, nodemanager."""
        roles = [daemon.role for daemon in self.state.daemons]
        for known in roles:
            if known in (role, f"{role}-1"):
                return layout.log(self.root, known)
        raise LabError(f"lab {self.name} has no {role!r}", f"it has: {', '.join(roles)}")

    def environment(self) -> dict[str, str]:
        """The variables with which commands find this lab, to be laid over one's own."""
        return {**self.system.environment(self.state, self.root), "IOSTRATA_LAB": self.name}

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

    def restart(self, progress: Callable[[str], None] = lambda _: None) -> None:
        """End all daemons and start them again on the same configuration files and data."""
        stop(self.state, self.root)
        try:
            start(self.state, self.root, self.system, progress, first=False)
        except BaseException:
            stop(self.state, self.root)
            raise

    def down(
        self, progress: Callable[[str], None] = lambda _: None, *, forget_logs: bool = True
    ) -> None:
        """End every process of the lab and remove its directory."""
        progress(f"ending lab {self.name}")
        starting.end(self.state, forget_logs=forget_logs)
