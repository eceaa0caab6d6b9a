"""Programs that run jobs, and what its client says of the jobs they ran."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iostrata.records import Bytes, Count, Record
from iostrata_lab.workload.interface import Context

_JOB = re.compile(r"Running job: (job_\d+_\d+)")
_GROUP = re.compile(r"^\t(\S.*)$")
_COUNTER = re.compile(r"^\t\t(.+)=(-?\d+)$")
FILES = "File System Counters"
TASKS = "Map-Reduce Framework"


class JobAnswer(Record, frozen=True):
    """What a job did, by its own counters; they are 0 where it has them not."""

    id: str
    maps: Count
    reduces: Count
    map_input_records: Count
    map_output_bytes: Bytes
    shuffled_bytes: Bytes
    reduce_output_records: Count
    hdfs_read: Bytes
    hdfs_written: Bytes


@dataclass(frozen=True)
class Job:
    """A job as its client printed it: counters by group and name."""

    id: str
    counters: dict[str, dict[str, int]]

    def counter(self, name: str, group: str = TASKS) -> int:
        """0 where the job has it not."""
        return self.counters.get(group, {}).get(name, 0)

    def moved(self, how: str) -> int:
        """Bytes read or written by its file system: HDFS, or what a lab has in its place."""
        name = f": Number of bytes {how}"
        counters = self.counters.get(FILES, {}).items()
        return sum(n for each, n in counters if each.endswith(name) and each != f"FILE{name}")

    def answer(self) -> JobAnswer:
        return JobAnswer(
            id=self.id,
            maps=self.counter("Launched map tasks", "Job Counters"),
            reduces=self.counter("Launched reduce tasks", "Job Counters"),
            map_input_records=self.counter("Map input records"),
            map_output_bytes=self.counter("Map output bytes"),
            shuffled_bytes=self.counter("Reduce shuffle bytes"),
            reduce_output_records=self.counter("Reduce output records"),
            hdfs_read=self.moved("read"),
            hdfs_written=self.moved("written"),
        )


def jobs_of(output: str) -> list[Job]:
    """Each job that a client ran, in order, of what it printed."""
    found: list[Job] = []
    group = ""
    for line in output.splitlines():
        if job := _JOB.search(line):
            found.append(Job(job[1], {}))
        elif found and (counter := _COUNTER.match(line)):
            found[-1].counters.setdefault(group, {})[counter[1]] = int(counter[2])
        elif heading := _GROUP.match(line):
            group = heading[1].strip()
    return found


def run(context: Context, main: str, *words: str) -> tuple[list[Job], str]:
    """Runs a program of Hadoop's class path: its jobs, and all that it printed.

    Its examples and its tests of MapReduce are there in distributions and labs alike.
    """
    log = context.scratch / f"{main.rpartition('.')[2]}.log"
    context.cluster.run(["hadoop", main, *context.options, *words], log)
    said = log.read_text()
    return jobs_of(said), said


def run_ours(context: Context, name: str, *words: str) -> list[Job]:
    """Runs the program `name` of our jar of jobs: the jobs that it ran."""
    log = context.scratch / f"{name}.log"
    context.cluster.job(name, *context.options, *words, output=log)
    return jobs_of(log.read_text())
