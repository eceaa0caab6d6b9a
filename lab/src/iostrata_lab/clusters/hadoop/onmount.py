"""YARN and MapReduce on a file system that a lab has mounted, by java/jobs' posix:// (S4.8)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from iostrata_lab.clusters import machine, mounted, state
from iostrata_lab.clusters.hadoop import conf, files, jars, yarn
from iostrata_lab.clusters.hadoop.conf import YARN_PORTS, AgentOptions
from iostrata_lab.clusters.hadoop.versions import DEFAULT, version_named
from iostrata_lab.clusters.starting import LabOrder
from iostrata_lab.clusters.state import State
from iostrata_lab.clusters.systems import Stage


@dataclass(frozen=True)
class OnMount:
    """What YARN on a mounted file system is started with."""

    jar: Path  # of jobs
    agent: AgentOptions | None = None
    version: str = DEFAULT.name
    java_home: Path | None = None
    locality: str = "free"  # fs.posix.locality
    properties: Mapping[str, str] | None = None  # of Hadoop, over the lab's own


def ordered(
    order: LabOrder, asked: OnMount, progress: Callable[[str], None], own: Mapping[str, str]
) -> LabOrder:
    """The order of a lab with YARN beside its file system; `own` properties say how Hadoop finds
    out where blocks are. Raises LabError for what cannot be.
    """
    hadoop = version_named(asked.version)
    machine.check_words(state.folder(order.name))
    if asked.agent is not None:
        machine.check_agent(asked.agent)
    jdk = machine.java_home(asked.java_home, hadoop)
    machine.check_hosts_file(jdk)
    lib = jars.fetch(progress, hadoop)
    agent = asked.agent
    more = {
        "java_home": str(jdk),
        "hadoop": hadoop.name,
        "yarn": True,
        "agent": {"jar": str(agent.jar), "dir": str(agent.dir)} if agent else None,
        "properties": dict(asked.properties or {}),
        "over_mount": {"jar": str(asked.jar), "fs.posix.locality": asked.locality, **own},
    }
    return LabOrder(
        order.name,
        order.system,
        order.topology,
        ports=YARN_PORTS,
        own={**order.own, **more},
        lib=lib,
    )


def fill(known: State, root: Path) -> None:
    if known.yarn:
        yarn.fill(known, root)
        files.make(known, root)


def fill_disk(known: State, disk: Path) -> None:
    if known.yarn:
        yarn.fill_disk(known, disk)


def stages(known: State, root: Path, first: bool) -> Iterator[Stage]:
    """Folders that all may write to, then YARN; nothing where the lab has none."""
    if not known.yarn:
        return
    if first:
        yield Stage((), (lambda: _make_folders(root),))
    yield yarn.stage(known, tuple(yarn.launches(known, root)))


def _make_folders(root: Path) -> str:
    mount = mounted.mount_point(root)
    try:
        for name in (conf.STAGING, "/user", conf.HISTORY):
            at = mount / name.strip("/")
            at.mkdir(parents=True, exist_ok=True)
            for folder in (at, *at.parents):
                if folder == mount:
                    break
                folder.chmod(0o1777)
        mount.chmod(0o1777)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return "" if os.access(mount, os.W_OK) else f"{mount} cannot be written to"


def environment(known: State, root: Path) -> dict[str, str]:
    return dict(files.environment(known, root)) if known.yarn else {}
