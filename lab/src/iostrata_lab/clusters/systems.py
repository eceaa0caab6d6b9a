"""What a lab runs: a system says what to start in which order, and when it can take work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from iostrata_lab.clusters.nodes import Node
from iostrata_lab.clusters.state import State

Lacks = Callable[[], str]  # what is still missing, in words; empty when nothing is


@dataclass(frozen=True)
class Launch:
    """How one daemon is started."""

    role: str
    argv: list[str]
    node: Node | None = None  # where; none: this machine
    group: str = ""  # the key of daemon_users
    is_jvm: bool = False  # else it is a native program


@dataclass(frozen=True)
class Stage:
    """Daemons that are started together, and what is waited for before the next ones are."""

    launches: tuple[Launch, ...] = ()
    waits: tuple[Lacks, ...] = ()
    said: str = ""  # to who waits, once all is there


@dataclass(frozen=True)
class System:
    """`fill` makes what is in the folder of a new lab, `fill_disk` what is on that of a node.

    `stages` are asked for one after the other, each when the one before it is there; they are those
    of the first start or of a later one. `environment` is what commands on the lab find.
    """

    name: str
    fill: Callable[[State, Path], None]
    stages: Callable[[State, Path, bool], Iterator[Stage]]
    environment: Callable[[State, Path], Mapping[str, str]]
    fill_disk: Callable[[State, Path], None]
