"""A lab together with the collector that records it."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from iostrata import lab as labs
from iostrata.artifacts import stage_agent
from iostrata.cli.console import note
from iostrata.errors import UserError
from iostrata.lab.errors import LabError
from iostrata.lab.hadoop.versions import DEFAULT
from iostrata.record.collector import collector_of, lab_dir, start_collector, stop_collector
from iostrata.record.session import Survey
from iostrata.schema.roles import SERVERS
from iostrata.store.location import default_store

if TYPE_CHECKING:
    from iostrata.workload.cluster import Cluster

HISTORY_TIMEOUT = 30.0  # s; the run has ended, and its ApplicationMasters with it
# What a cluster that is going down says, or one that says something unheard-of.
_NO_ANSWER = (LabError, OSError, http.client.HTTPException, ValueError, KeyError)

# A lab's names of its daemons, and the collector's.
_ROLES = {name.lower(): name for name in SERVERS}


@contextmanager
def lab_errors() -> Iterator[None]:
    """Inside it, what a lab complains about becomes a UserError."""
    try:
        yield
    except LabError as error:
        message = f"{error.message}\n{error.log}" if error.log else error.message
        raise UserError(message, error.remedy) from error


def bring_up(
    name: str,
    datanodes: int,
    agent: bool,
    daemon_users: dict[str, int] | None = None,
    version: str = DEFAULT.name,
    properties: dict[str, str] | None = None,
    topology: labs.Topology | None = None,
) -> labs.Lab:
    """Starts the lab's collector (with an agent) and its cluster; undoes both on failure."""

    def up(options: labs.AgentOptions | None) -> labs.Lab:
        with lab_errors():
            return labs.up(
                name,
                version=version,
                datanodes=datanodes,
                topology=topology,
                agent=options,
                daemon_users=daemon_users,
                properties=properties,
                progress=steps(),
            )

    if not agent:
        return up(None)
    directory = lab_dir(name)
    collector = collector_of(directory)
    if collector is None:
        collector = start_collector(directory, default_store(), f"lab-{name}", False)
    try:
        return up(labs.AgentOptions(jar=stage_agent(directory), dir=directory))
    except BaseException:
        if collector.started:
            stop_collector(collector)
        raise


def take_down(name: str | None) -> str:
    """Ends the lab's processes, then its collector, which publishes what is left; its name."""
    with lab_errors():
        found = labs.find(name)
        found.down(progress=steps())
    directory = lab_dir(found.name)
    collector = collector_of(directory)
    if collector is None:
        shutil.rmtree(directory, ignore_errors=True)  # what a killed collector left
    elif stop_collector(collector):
        shutil.rmtree(collector.store / ".spool" / f"lab-{found.name}", ignore_errors=True)
    return found.name


def lab_environment(name: str | None) -> tuple[dict[str, str], list[tuple[str, int]]]:
    """What a command recorded on the lab finds in its environment, and the daemons to expect."""
    with lab_errors():
        found = labs.find(name)
        environment = {**os.environ, **found.environment()}
        return environment, [(_ROLES[d.role.split("-")[0]], d.pid) for d in found.daemons()]


def cluster_of(lab: str | None) -> Cluster:
    """The cluster that workloads run on: a lab's, or what `hadoop` of the environment reaches."""
    from iostrata.artifacts import jobs_jar
    from iostrata.workload.cluster import Cluster

    environment = dict(os.environ) if lab is None else lab_environment(lab)[0]
    return Cluster(environment, jobs_jar())


def lab_survey(name: str | None) -> Survey:
    """Asks the lab's NameNode for its DataNodes and the histories of jobs for their attempts."""
    with lab_errors():
        found = labs.find(name)

    def survey(jobs: Sequence[str]) -> dict[str, Any]:
        asked: dict[str, Any] = {"datanodes": None, "attempts": {}, "unasked": []}
        host = socket.gethostname()
        try:
            listed = found.datanodes()
            asked["datanodes"] = [
                {"name": at, "rack": rack, "host": node or host, "pid": pid}
                for at, rack, node, pid in listed
            ]
        except _NO_ANSWER as error:
            asked["unasked"].append(f"the NameNode for its DataNodes: {error}")
        for job in jobs:
            if not job.startswith("job_"):
                continue  # an application of Spark: that has no history there
            try:
                asked["attempts"][job] = found.attempts(job, HISTORY_TIMEOUT)
            except _NO_ANSWER as error:
                asked["unasked"].append(f"the history of {job} for its attempts: {error}")
        return asked

    return survey


def steps() -> Callable[[str], None]:
    """Prints each step with the seconds since the first."""
    begin = time.monotonic()
    return lambda step: note(f"{time.monotonic() - begin:6.1f} s  {step}")
