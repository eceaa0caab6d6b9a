"""One's own jobs as a trace: from the history that Hadoop keeps of them.

What reads it is `History.java`, on the cluster, with the cluster's own parser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iostrata.errors import UserError
from iostrata.records import Count, Record
from iostrata_lab.workload.cluster import ClusterClient
from iostrata_lab.workload.swim.plan import total
from iostrata_lab.workload.swim.trace import TraceJob

_LEFT_OUT = ("UNFINISHED", "UNREADABLE")


class HistoryAnswer(Record, frozen=True):
    """A history as JSON has it, without its jobs: how many there are, ended in which state, those
    left out with what was wrong; `seconds` from the first submission to the last.
    """

    jobs: Count
    states: dict[str, int]
    left_out: dict[str, str]
    map_only: Count
    seconds: int
    bytes: dict[str, int]


@dataclass(frozen=True)
class History:
    """Jobs in the order of their submission, the first at 0 s; how many ended in which state, and
    the names of those that are not among them, with what was wrong.
    """

    jobs: tuple[TraceJob, ...]
    states: dict[str, int]
    left_out: tuple[tuple[str, str], ...]

    @property
    def seconds(self) -> int:
        """From the first submission to the last."""
        return self.jobs[-1].submit

    @property
    def map_only(self) -> int:
        """Jobs without a reduce, or whose maps gave it nothing: a trace knows no difference."""
        return sum(job.map_only for job in self.jobs)

    @property
    def total(self) -> tuple[int, int, int]:
        """Bytes of input, shuffle and output of all jobs."""
        return total(self.jobs)

    def answer(self) -> HistoryAnswer:
        return HistoryAnswer(
            jobs=len(self.jobs),
            states=self.states,
            left_out=dict(self.left_out),
            map_only=self.map_only,
            seconds=self.seconds,
            bytes=dict(zip(("input", "shuffle", "output"), self.total, strict=True)),
        )


def jobs_of(cluster: ClusterClient, folders: Sequence[str]) -> History:
    """The jobs whose history lies in these folders or below, else those of the cluster's own.

    Raises UserError where nothing can be read, or where there is no job.
    """
    found = parsed(cluster.job("swim-history", *folders).splitlines())
    if not found.jobs:
        where = " or ".join(folders) or "the folders of mapreduce.jobhistory.*done-dir"
        wrong = "".join(f" ({name}: {what})" for name, what in found.left_out[:1])
        raise UserError(
            f"{where}: no job that has ended{wrong}",
            "name a folder with .jhist files",
        )
    return found


def parsed(lines: Iterable[str]) -> History:
    """What `PastJob.line` writes, in any order."""
    rows = [line.split("\t") for line in lines]
    states = Counter(row[1] for row in rows)
    kept = sorted((row for row in rows if row[1] not in _LEFT_OUT), key=lambda row: int(row[2]))
    left_out = tuple((row[0], row[7] or "not ended") for row in rows if row[1] in _LEFT_OUT)
    jobs: list[TraceJob] = []
    for name, _, at, read, shuffled, written, path, _ in kept:
        submit = (int(at) - int(kept[0][2])) // 1000
        gap = submit - jobs[-1].submit if jobs else 0
        # what is not known is nobody else's
        sizes = int(read), int(shuffled), int(written)
        jobs.append(TraceJob(name, submit, gap, *sizes, path or f"of {name}"))
    return History(tuple(jobs), dict(states), left_out)


def text(jobs: Iterable[TraceJob]) -> str:
    """A trace that `trace.read` takes, with paths."""
    lines = (
        f"{job.name}\t{job.submit}\t{job.gap}\t{job.input}\t{job.shuffle}\t{job.output}"
        f"\t{job.path}\t\t\n"
        for job in jobs
    )
    return "".join(lines)
