"""Which processes of a run were traced, of those that should have been.

What should have been traced is known from three sources: the /proc of every host with a collector
(the processes of a run), the NameNode's list of DataNodes, and the job histories. The recorder
asked the last two when the command had ended; of a history it took names of attempts and nothing
else.

A recorder asks this about a run that it has just recorded, so nothing is imported here that takes
long: the types are plain, and analyses make records of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar


class Seen(Protocol):
    """A process that a collector saw."""

    @property
    def host(self) -> str | None: ...
    @property
    def role(self) -> str | None: ...
    @property
    def pid(self) -> int | None: ...
    @property
    def task(self) -> str | None: ...
    @property
    def traced(self) -> bool: ...
    @property
    def reason(self) -> str: ...


class Listed(Protocol):
    """A DataNode that the NameNode lists."""

    @property
    def name(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def pid(self) -> int | None: ...
    @property
    def rack(self) -> str: ...


class ClusterLists(Protocol):
    """What the lists of a cluster said: see store.facts.Cluster."""

    @property
    def datanodes(self) -> Sequence[Listed] | None: ...
    @property
    def attempts(self) -> Mapping[str, Sequence[str]] | None: ...
    @property
    def unasked(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class MatchedDataNode:
    """A listed DataNode; `traced`: a traced process is it."""

    name: str
    host: str
    pid: int | None
    rack: str
    traced: bool


S = TypeVar("S", bound=Seen)


@dataclass(frozen=True)
class ComparedCoverage(Generic[S]):
    """What became of a comparison: fields as in analyse.completeness.Coverage."""

    total: int
    traced: int
    not_traced: list[S]
    processes: list[S]
    datanodes: list[MatchedDataNode] | None
    attempts: list[str] | None
    missing_attempts: list[str]
    unasked: list[str]


def coverage(
    cluster: ClusterLists, seen: Sequence[S], tasks: Collection[str]
) -> ComparedCoverage[S]:
    """Compares the processes of a run with what its cluster listed.

    `tasks` are those that have sums, of whichever process but a server: an attempt inside its
    ApplicationMaster (uber mode) has no process of its own.
    """
    attempts = None
    if cluster.attempts is not None:
        attempts = sorted(name for job in cluster.attempts.values() for name in job)
    reported = {process.task for process in seen} | set(tasks)
    missing = [attempt for attempt in attempts or () if attempt not in reported]
    return ComparedCoverage(
        total=len(seen) + len(missing),
        traced=sum(process.traced for process in seen),
        not_traced=[process for process in seen if not process.traced],
        processes=list(seen),
        datanodes=None if cluster.datanodes is None else match(cluster.datanodes, seen),
        attempts=attempts,
        missing_attempts=missing,
        unasked=list(cluster.unasked),
    )


def match(listed: Sequence[Listed], seen: Sequence[Seen]) -> list[MatchedDataNode]:
    """The listed DataNodes, each with `traced`.

    One whose process is known is traced if that process is; of the others of a host, as many as
    the host has traced DataNodes left.
    """
    left = [(p.host, p.pid) for p in seen if p.traced and p.role == "DataNode"]
    found = []
    for node in sorted(listed, key=lambda node: node.pid is None):
        candidates = (one for one in left if one[0] == node.host and node.pid in (None, one[1]))
        process = next(candidates, None)
        if process is not None:
            left.remove(process)
        traced = process is not None
        found.append(MatchedDataNode(node.name, node.host, node.pid, node.rack, traced))
    return sorted(found, key=lambda node: node.name)


@dataclass(frozen=True)
class ListedNode:
    """A DataNode in the answer of a cluster."""

    name: str
    host: str
    pid: int | None = None
    rack: str = ""


@dataclass(frozen=True)
class ClusterAnswer:
    """What a cluster answered to the recorder: fields as in store.facts.Cluster."""

    datanodes: Sequence[ListedNode] | None = None
    attempts: Mapping[str, Sequence[str]] | None = None
    unasked: Sequence[str] = ()

    @classmethod
    def of(cls, answers: Mapping[str, Any]) -> ClusterAnswer:
        """Of the value `cluster` of run.json."""
        nodes = answers.get("datanodes")
        listed = None if nodes is None else [ListedNode(**node) for node in nodes]
        return cls(listed, answers.get("attempts"), answers.get("unasked", ()))


@dataclass(frozen=True)
class SeenProcess:
    """A process as the collector tells its recorder; losses as in analyse.processes.Process."""

    host: str = ""
    role: str = ""
    pid: int = 0
    task: str = ""
    traced: bool = False
    reason: str = ""
    dropped: int = 0
    collapsed: int = 0
    lost: int = 0
    rejected: int = 0


@dataclass(frozen=True)
class ReportedCoverage:
    """What the collector tells the recorder at the end: who was there, and of all sums the layers,
    the tasks of processes that are no servers, and whether some are `of_jobs`.
    """

    processes: list[SeenProcess]
    tasks: list[str]
    layers: list[str]
    of_jobs: bool
    faulted_points: list[str]
    unfinished: int

    @classmethod
    def of(cls, answer: Any) -> ReportedCoverage | None:
        """Of the value `coverage` of progress.json; None where a collector says less or more."""
        try:
            seen = [SeenProcess(**process) for process in answer["processes"]]
            seen.sort(key=lambda process: (process.traced, process.role, process.host, process.pid))
            return cls(**{**answer, "processes": seen})
        except (TypeError, KeyError):
            return None

    def sum_of(self, loss: str) -> int:
        """Of all processes: `dropped`, `collapsed`, `lost` or `rejected`."""
        return sum(getattr(process, loss) for process in self.processes)
