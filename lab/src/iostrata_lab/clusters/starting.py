"""Starting a lab: name, folder, daemons; or, where that fails, nothing is left."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iostrata_lab.clusters import layout, machine, namespaces, nodes, ports, processes, state
from iostrata_lab.clusters.daemons import PortTakenError, start, stop
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.nodes import Topology
from iostrata_lab.clusters.state import State
from iostrata_lab.clusters.systems import System

HOSTS = Path("/etc/hosts")
ATTEMPTS = 3  # at ports that nobody else takes between our look and the daemon's bind


@dataclass(frozen=True)
class LabOrder:
    """A lab that is to be started; what it needs has been checked."""

    name: str
    system: System
    topology: Topology | None
    ports: tuple[str, ...] = ()  # their names; numbers are those that are free
    users: dict[str, int] = field(default_factory=dict)  # uids of groups of daemons
    own: dict[str, Any] = field(default_factory=dict)  # fields of State that the system alone has
    lib: Path | None = None  # what it runs of; linked into the lab where others cannot read it


def started(order: LabOrder, progress: Callable[[str], None]) -> State:
    """What is known of the lab once it can take work.

    Raises LabError; whatever goes wrong, Ctrl-C included, nothing is left behind.
    """
    began = time.monotonic()
    for attempt in range(1, ATTEMPTS + 1):
        try:
            known = _try(order, progress, last=attempt == ATTEMPTS)
        except PortTakenError:
            progress("another program took one of the ports, again with others")
        else:
            progress(f"ready after {time.monotonic() - began:.1f} s")
            return known
    raise AssertionError("the last attempt either returns or raises LabError")


def _try(order: LabOrder, progress: Callable[[str], None], *, last: bool) -> State:
    known = _claim(order, progress)
    root = state.folder(order.name)
    try:
        layout.make(root)
        if known.nodes:
            layout.make_file(root / "conf" / "hosts", _hosts(known), 0o644)
        order.system.fill(known, root)
        start(known, root, order.system, progress, first=True)
    except PortTakenError as taken:
        _remove(known, forget_logs=not last)
        if last:
            raise taken.error from taken
        raise
    except BaseException:
        _remove(known, forget_logs=False)
        raise
    return known


def _hosts(known: State) -> str:
    own = HOSTS.read_text("utf-8") if HOSTS.exists() else ""
    return nodes.hosts(known.nodes, known.subnet, socket.gethostname(), own)


def _remove(known: State, *, forget_logs: bool) -> None:
    """What could not start is ended to its end, also where Ctrl-C comes meanwhile."""
    try:
        end(known, forget_logs=forget_logs)
    except KeyboardInterrupt:
        end(known, forget_logs=forget_logs)
        raise


def _claim(order: LabOrder, progress: Callable[[str], None]) -> State:
    """Take the name and the ports, so that no other start takes them; writes lab.json."""
    root = state.folder(order.name)
    with state.exclusive():
        clear(order.name, progress)
        # Root's cache lies where the daemons of other users cannot read it.
        linked = os.geteuid() == 0 and order.lib is not None and machine.closed(order.lib)
        known = _first_state(order, root / "lib" if linked else order.lib)
        if order.users:
            machine.check_open(root.parent)
        root.mkdir()
        try:
            root.chmod(0o755)
            if linked and order.lib is not None:
                layout.link(order.lib, root / "lib")
            state.save(known)
        except BaseException:
            layout.remove(root)
            raise
    return known


def clear(name: str, progress: Callable[[str], None]) -> None:
    """Remove what is left of a lab; raises LabError if it runs."""
    old = state.load(name)
    if old is not None and old.running():
        doing = "is being started" if old.owner else "is already running"
        raise LabError(f"lab {name} {doing}", f"end it: iostrata lab down {name}")
    if old is not None:
        progress(f"removing what is left of lab {name}")
        end(old)
    root = state.folder(name)
    if root.exists():
        raise LabError(f"{root} exists and is no lab", "choose another name, or remove it")
    layout.forget_logs(root)


def _first_state(order: LabOrder, lib: Path | None) -> State:
    me = processes.identify(os.getpid())
    assert me is not None
    others = [known for known in map(state.load, state.names()) if known is not None]
    topology, subnet = order.topology, 0
    if topology is not None:
        subnets = {known.subnet for known in others}
        subnet = nodes.free_subnet(subnets, namespaces.interfaces())
    taken = {port for known in others for port in known.ports.values()}
    return State(
        name=order.name,
        system=order.system.name,
        boot=processes.boot(),
        owner={"pid": me.pid, "start": me.start},
        daemon_users=order.users,
        ports=ports.pick(order.ports, taken),
        nodes=topology.planned(subnet) if topology else [],
        subnet=subnet,
        lib=str(lib or ""),
        **order.own,
    )


def end(known: State, *, forget_logs: bool = True) -> None:
    """End every process of a lab and remove its directory."""
    root = state.folder(known.name)
    stop(known, root)
    layout.remove(root)
    if forget_logs:
        layout.forget_logs(root)
