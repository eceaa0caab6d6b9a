"""A lab together with the collector that records it."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import socket
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from iostrata.artifacts import preload_library, stage_agent
from iostrata.cli.console import note
from iostrata.errors import UserError
from iostrata.prepare.hadoop import ADMIN_ENV
from iostrata.prepare.properties import BadXmlError
from iostrata.prepare.properties import read as read_xml
from iostrata.record.collector import Collector, collector_of, start_collector, stop_collector
from iostrata.record.environment import with_preload
from iostrata.schema.roles import SERVERS
from iostrata.store.configuration import kept
from iostrata.store.location import default_store
from iostrata_lab import clusters
from iostrata_lab.artifacts import jobs_jar
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop.versions import DEFAULT
from iostrata_lab.workload.cluster import ClusterClient

HISTORY_TIMEOUT = 30.0  # s; the run has ended, and its ApplicationMasters with it
# What a cluster that is going down says, or one that says something unheard-of.
_NO_ANSWER = (LabError, OSError, http.client.HTTPException, ValueError, KeyError)

# A lab's names of its daemons, and the collector's.
_ROLES = {name.lower(): name for name in SERVERS}
_NUMBER = re.compile(r"-\d+$")  # behind the names of those of which there are several
_NOBODY: frozenset[int] = frozenset()
_started: dict[Path, Collector] = {}  # by this process, of labs that are up, by their directory
_Lab = TypeVar("_Lab", bound=clusters.Lab)


@contextmanager
def lab_errors() -> Iterator[None]:
    """Inside it, what a lab complains about becomes a UserError."""
    try:
        yield
    except LabError as error:
        message = f"{error.message}\n{error.log}" if error.log else error.message
        raise UserError(message, error.remedy) from error


def collector_directory(lab: str) -> Path:
    """The directory of the collector that `lab up` starts."""
    return Path(f"/dev/shm/iostrata-lab-{lab}")


def bring_up(
    name: str,
    datanodes: int,
    agent: bool,
    daemon_users: dict[str, int] | None = None,
    version: str = DEFAULT.name,
    properties: dict[str, str] | None = None,
    topology: clusters.Topology | None = None,
    native: bool = False,
) -> clusters.HadoopLab:
    """Starts the lab's collector (with an agent) and its cluster; undoes both on failure.

    `native`: programs in containers that are no JVM can be recorded, too.
    """

    def up(directory: Path | None) -> clusters.HadoopLab:
        jar = stage_agent(directory) if directory else None
        preload = _preload(directory) if directory and native else {}
        in_containers = {f"{ADMIN_ENV}.{variable}": value for variable, value in preload.items()}
        return clusters.up(
            name,
            version=version,
            datanodes=datanodes,
            topology=topology,
            agent=clusters.AgentOptions(jar, directory) if jar and directory else None,
            daemon_users=daemon_users,
            properties={**in_containers, **(properties or {})},
            progress=steps(),
        )

    return _collected(name, agent, up, set((daemon_users or {}).values()))


@dataclass(frozen=True)
class OrderedHadoop:
    """What YARN on a mounted file system is asked to be."""

    version: str = DEFAULT.name
    locality: str = "free"
    properties: Mapping[str, str] = field(default_factory=dict)


def bring_up_storage(
    name: str, start: Callable[..., clusters.Lab], traced: bool, hadoop: OrderedHadoop | None = None
) -> clusters.Lab:
    """The same for a file system beside HDFS, which `start` starts; its servers load what records
    native programs.
    """

    def up(directory: Path | None) -> clusters.Lab:
        preload = _preload(directory) if directory else {}
        on_it = _on_mount(hadoop, directory)
        return start(name, preload=preload, hadoop=on_it, progress=steps())

    return _collected(name, traced, up)


def _preload(directory: Path) -> dict[str, str]:
    """What programs that are no JVM have in their environment, to be recorded for any run."""
    return with_preload({}, preload_library(directory, stages=True), directory, run="")


def _on_mount(asked: OrderedHadoop | None, directory: Path | None) -> clusters.OnMount | None:
    if asked is None:
        return None
    agent = clusters.AgentOptions(stage_agent(directory), directory) if directory else None
    return clusters.OnMount(
        jobs_jar(), agent, asked.version, locality=asked.locality, properties=asked.properties
    )


def _collected(
    name: str, traced: bool, up: Callable[[Path | None], _Lab], serving: Collection[int] = _NOBODY
) -> _Lab:
    """Starts a lab with the directory of its collector, None where it is not to be traced."""
    if not traced:
        with lab_errors():
            return up(None)
    directory = collector_directory(name)
    collector = collector_of(directory)
    if collector is None:
        collector = start_collector(
            directory, default_store(), f"lab-{name}", False, serving, supervised=True
        )
        _started[directory] = collector
    try:
        with lab_errors():
            return up(directory)
    except BaseException:
        if collector.started:
            stop_collector(collector)
            _started.pop(directory)
        raise


def _with_child(collector: Collector) -> Collector:
    """Whose end has to be waited for, where this process has started it."""
    started = _started.pop(collector.dir, None)
    return replace(collector, child=started.child) if started else collector


def take_down(name: str | None) -> str:
    """Ends the lab's processes, then its collector, which publishes what is left; its name."""
    with lab_errors():
        lab = clusters.find(name)
        lab.down(progress=steps())
    directory = collector_directory(lab.name)
    collector = collector_of(directory)
    if collector is None:
        shutil.rmtree(directory, ignore_errors=True)  # what a killed collector left
    elif stop_collector(_with_child(collector)):
        shutil.rmtree(collector.store / ".spool" / f"lab-{lab.name}", ignore_errors=True)
    return lab.name


@dataclass(frozen=True)
class RecordedLab:
    """A lab as `iostrata record --lab` sees it: see iostrata.record.clusters.RecordedCluster."""

    lab: clusters.Lab

    @property
    def directory(self) -> Path:
        """Of the collector that `lab up` starts."""
        return collector_directory(self.lab.name)

    def environment(self) -> dict[str, str]:
        """What a command recorded on the lab finds in its environment."""
        with lab_errors():
            return {**os.environ, **self.lab.environment()}

    def daemons(self) -> list[tuple[str, int]]:
        """Role and pid of each daemon."""
        with lab_errors():
            return [(_ROLES[_NUMBER.sub("", d.role)], d.pid) for d in self.lab.daemons()]

    def survey(self, jobs: Sequence[str]) -> dict[str, Any]:
        """Asks the NameNode for its DataNodes, and histories of jobs for attempts and settings."""
        answers: dict[str, Any] = {"datanodes": None, "attempts": {}, "unasked": []}
        answers["configuration"] = {}
        if not isinstance(self.lab, clusters.HadoopLab):
            return answers
        lab = self.lab
        host = socket.gethostname()
        try:
            if lab.has_hdfs:
                answers["datanodes"] = [
                    {"name": at, "rack": rack, "host": node or host, "pid": pid}
                    for at, rack, node, pid in lab.datanodes()
                ]
        except _NO_ANSWER as error:
            answers["unasked"].append(f"the NameNode for its DataNodes: {error}")
        for job in jobs:
            if not job.startswith("job_"):
                continue  # an application of Spark: that has no history there
            try:
                answers["attempts"][job] = lab.attempts(job, HISTORY_TIMEOUT)
            except _NO_ANSWER as error:
                answers["unasked"].append(f"the history of {job} for its attempts: {error}")
                continue
            try:
                answers["configuration"][job] = _settings(lab, job)
            except (*_NO_ANSWER, BadXmlError) as error:
                answers["unasked"].append(f"the history of {job} for its settings: {error}")
        return answers


def _settings(lab: clusters.HadoopLab, job: str) -> dict[str, str]:
    """Those that advice may name, of all that its history says."""
    read = read_xml(lab.configuration(job, HISTORY_TIMEOUT))
    return kept({each.name: each.value for each in read.properties})


def recorded_lab(name: str) -> RecordedLab:
    """The lab of that name; raises UserError."""
    with lab_errors():
        return RecordedLab(clusters.find(name))


def cluster_of(lab: str | None, needs_hadoop: bool = True) -> ClusterClient:
    """The cluster that workloads run on: a lab's, or what `hadoop` of the environment reaches.

    Raises UserError for a lab that is not there, or that runs something else than is needed.
    """
    if lab is not None and needs_hadoop:
        with lab_errors():
            clusters.find_hadoop(lab)
    environment = dict(os.environ) if lab is None else recorded_lab(lab).environment()
    return ClusterClient(environment)


def steps() -> Callable[[str], None]:
    """Prints each step with the seconds since the first."""
    begin = time.monotonic()
    return lambda step: note(f"{time.monotonic() - begin:6.1f} s  {step}")
