"""What is known of a lab between two commands: `lab.json` in the lab's directory."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from iostrata_lab.clusters import nodes, processes
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.nodes import Node
from iostrata_lab.clusters.processes import Identity

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Daemon:
    """One daemon of a lab; `start` as in `processes.Identity`."""

    role: str
    pid: int
    start: int
    uid: int
    node: str = ""  # empty: this machine

    @property
    def identity(self) -> Identity:
        return Identity(self.pid, self.start)


@dataclass
class State:
    """The contents of lab.json."""

    name: str
    boot: str
    owner: dict[str, int]  # the process that brings the lab up, empty once it is ready
    daemon_users: dict[str, int]
    system: str = "hadoop"  # what runs in it
    ports: dict[str, int] = field(default_factory=dict)
    daemons: list[Daemon] = field(default_factory=list)
    ready: float = 0.0  # seconds since the epoch, 0 before
    nodes: list[Node] = field(default_factory=list)  # none: all daemons are on loopback
    subnet: int = 0  # of the nodes
    hub: int = 0  # pid of the holder of what connects them
    lib: str = ""  # folder of what it runs of
    # Hadoop's own:
    java_home: str = ""
    hadoop: str = ""  # the version
    datanodes: int = 0
    yarn: bool = False
    agent: dict[str, str] | None = None
    properties: dict[str, str] = field(default_factory=dict)  # over the lab's
    # Those of other file systems:
    copies: int = 0  # of each chunk or object
    striping: str = ""  # how a file lies on these
    over_mount: dict[str, str] = field(default_factory=dict)  # of Hadoop on it: its jar, properties
    preload: dict[str, str] = field(default_factory=dict)  # variables of what is to be recorded

    @property
    def head(self) -> str:
        """The address of the servers that are on this machine."""
        return nodes.head(self.subnet) if self.nodes else nodes.LOOPBACK

    def at(self, name: str) -> str:
        """HOST:PORT of a server on the head, by the name of its port."""
        return f"{self.head}:{self.ports[name]}"

    def running(self) -> bool:
        """True while a daemon or the process that starts them lives."""
        if self.boot != processes.boot():
            return False
        known = [daemon.identity for daemon in self.daemons]
        if self.owner:
            known.append(Identity(self.owner["pid"], self.owner["start"]))
        return any(processes.alive(process) for process in known)


def home() -> Path:
    """`$IOSTRATA_LAB_HOME`, else `~/.local/state/iostrata/labs`."""
    named = os.environ.get("IOSTRATA_LAB_HOME")
    found = Path(named) if named else Path.home() / ".local/state/iostrata/labs"
    return found.absolute()


def folder(name: str) -> Path:
    """The directory of a lab. Raises LabError if `name` cannot be a directory's."""
    if not NAME.fullmatch(name):
        raise LabError(f"{name!r} cannot name a lab", "use letters, digits, '.', '_' and '-'")
    return home() / name


def save(state: State) -> None:
    """Write lab.json atomically."""
    path = folder(state.name) / "lab.json"
    fresh = path.with_suffix(".tmp")
    fresh.write_text(json.dumps(asdict(state), indent=2) + "\n")
    fresh.rename(path)


def load(name: str) -> State | None:
    """The state of a lab; None if there is none."""
    try:
        raw: dict[str, Any] = json.loads((folder(name) / "lab.json").read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise _unreadable(name, error) from error
    try:
        raw["daemons"] = [Daemon(**daemon) for daemon in raw["daemons"]]
        raw["nodes"] = [nodes.load(node) for node in raw.get("nodes", [])]
        known = {field.name for field in fields(State)}
        return State(**{name: value for name, value in raw.items() if name in known})
    except (KeyError, TypeError) as error:  # of another version
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: Exception) -> LabError:
    path = folder(name) / "lab.json"
    return LabError(f"{path} cannot be read: {error}", f"end its processes, rm -r {path.parent}")


def names() -> list[str]:
    """The labs that have a directory, running or not."""
    with suppress(FileNotFoundError):
        return sorted(path.parent.name for path in home().glob("*/lab.json"))
    return []


@contextmanager
def exclusive() -> Iterator[None]:
    """Among all users of this lab home, one at a time: for naming labs and choosing ports."""
    home().mkdir(parents=True, exist_ok=True)
    handle = os.open(home(), os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
