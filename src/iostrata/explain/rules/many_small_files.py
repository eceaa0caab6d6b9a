"""Inputs of many small files: a task, a lookup and an open each.

Files that the program which submitted the job made for it are none of them: there are as many as
there shall be tasks (`short-tasks`).
"""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import SUMS, bytes_by_direction
from iostrata.analyse.targets import targets
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import STAGING, input_format, made_by_submitters, opens
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.replay.alternative import only_of
from iostrata.replay.settings import fewer_maps
from iostrata.text import count, plural, seconds, size

SMALL = 4 << 20  # bytes
LEAST = 20  # files
BLOCK = 128 << 20  # bytes that a task could have read
# Formats with one of Hadoop's own that packs several of their files, and where it is.
PACKED = ("TextInputFormat", "SequenceFileInputFormat")
PACKAGES = {"org.apache.hadoop.mapred": "org.apache.hadoop.mapred.lib"}


class FilesRead(Record, frozen=True):
    """Files of HDFS that a job opened, and those that it is known to have read; `time`: of those
    that are small, which may have had `unknown` bytes more.
    """

    job: str
    opened: Count
    files: Count
    small: Count
    bytes: Bytes
    unknown: Bytes
    time: Ns

    @property
    def are_small(self) -> bool:
        """Most are, and stay so whatever file the unknown bytes were of."""
        enough = self.small >= LEAST and self.small * 2 >= self.files
        return enough and self.unknown < SMALL * self.small // 2


def evidence(workforce: Workforce) -> ir.Table:
    files = targets(workforce.roles, "job")
    read = ibis.greatest(files.bytes_read, files.bytes_received)
    files = files.filter(files.layer == "hdfs", ~files.target.contains(STAGING), read > 0)
    made = made_by_submitters()
    files = files.anti_join(made, files.target == made.made)
    files = files.mutate(job=files.job.fill_null(""), read=read, is_small=read < SMALL)
    jobs = files.group_by("job").agg(
        files=files.target.nunique(),
        small=files.target.nunique(where=files.is_small),
        bytes=files.read.sum().cast("int64"),
        time=files.time.sum(where=files.is_small).fill_null(0).cast("int64"),
    )
    opened, total = _opened(workforce), _read(workforce)
    rows = jobs.left_join(opened, jobs.job == opened.opener).drop("opener")
    rows = rows.left_join(total, rows.job == total.reader).drop("reader")
    rows = rows.mutate(
        opened=ibis.greatest(rows.opened.fill_null(0), rows.files),
        unknown=ibis.greatest(rows.total.fill_null(0) - rows.bytes, 0),
    )
    return rows.drop("total").order_by("job")


def _opened(workforce: Workforce) -> ir.Table:
    """Files that jobs opened: each open is recorded individually, whatever becomes of the reads."""
    rows, made = opens(workforce), made_by_submitters()
    rows = rows.anti_join(made, rows.target == made.made)
    return rows.group_by(opener=rows.job.fill_null("")).agg(opened=rows.target.nunique())


def _read(workforce: Workforce) -> ir.Table:
    """Bytes that jobs read of HDFS, whatever file they were of."""
    rows = workforce.rows(SUMS)
    rows = rows.filter(rows.layer == "hdfs")
    moved = bytes_by_direction(rows)
    total = ibis.greatest(moved["read"], moved["received"])
    return rows.group_by(reader=rows.job.fill_null("")).agg(total=total)


@rule(
    title="Many small files are read",
    evidence=Query(evidence, FilesRead),
    why="For each file a task asks the NameNode and connects to a DataNode, and where a task reads "
    "one file alone, it starts a JVM for it. All this takes longer than reading the bytes.",
    unless="what is done with each file takes many seconds.",
    explains=("short-tasks", "fs-creation", "metadata-storm", "open-churn", "localization"),
)
def judge(rows: list[FilesRead], facts: RunFacts) -> Judgement | None:
    jobs = [row for row in rows if row.are_small]
    if not jobs:
        return None
    files, small = sum(row.files for row in jobs), sum(row.small for row in jobs)
    read = sum(row.bytes for row in jobs)
    maps = needed = cost = 0
    own_tasks, tries = [], []
    for row in jobs:
        of_job = sum(worker.role == "map" for worker in facts.workers_of(row.job))
        if of_job < row.opened * row.small // row.files:  # a copy, or a format that packs files
            cost += row.time
            continue
        own_tasks.append(row.job)
        enough = max(facts.at_once, row.bytes // BLOCK + 1)
        maps, needed = maps + of_job, needed + enough
        cost += max(0, of_job - enough) * facts.start_up
        tries.append(only_of([row.job], fewer_maps(-(-of_job // enough))))
    opened = sum(row.opened for row in jobs)
    known = f" ({count(opened - files)} more files were opened)" if opened > files else ""
    tasks = f", with {count(maps)} map tasks where {needed} would be enough" if maps else ""
    who = "the job" if len(jobs) == 1 else plural(len(jobs), "job")
    return Judgement(
        share=facts.share(cost),
        text=f"{who} read {count(files)} files of {size(read // files)} on average{known}{tasks}; "
        f"this took {seconds(cost)}",
        evidence=[
            Evidence("files that were opened", opened, "count"),
            Evidence("files that are known to have been read", files, "count"),
            Evidence(f"files smaller than {size(SMALL)}", small, "count"),
            Evidence("bytes of all files", read, "bytes"),
            Evidence("map tasks that read a file each", maps, "count"),
            Evidence("time to start and end a task", facts.start_up, "ns"),
        ],
        change=[
            *(_packed(facts, own_tasks) if own_tasks else ()),
            Change("write fewer and larger files (merge them, use a SequenceFile or an archive)"),
        ],
        jobs=tuple(row.job for row in jobs),
        tries=tuple(tries),
    )


def _packed(facts: RunFacts, jobs: list[str]) -> list[Change]:
    """How to have a task read several files: with the format that does so with the jobs' files."""
    setting, known = input_format(facts, *jobs)
    package, _, name = known.rpartition(".")
    packing = f"{PACKAGES.get(package, package)}.Combine{name}" if name in PACKED else ""
    return [
        Change(
            "pack several files into one split",
            setting,
            after=packing or "a subclass of CombineFileInputFormat",
        ),
        Change(
            "make splits of this size",
            "mapreduce.input.fileinputformat.split.maxsize",
            after=str(BLOCK),
        ),
    ]
