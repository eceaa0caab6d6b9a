"""Inputs of many small files: a task, a lookup and an open each."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.targets import targets
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.text import count, plural, seconds, size

SMALL = 4 << 20  # bytes
LEAST = 20  # files
BLOCK = 128 << 20  # bytes that a task could have read


class FilesRead(Record, frozen=True):
    """Files of HDFS that a job read; `time`: of those that are small."""

    job: str
    files: Count
    small: Count
    bytes: Bytes
    time: Ns


def evidence(workforce: Workforce) -> ir.Table:
    files = targets(workforce.roles, "job")
    read = ibis.greatest(files.bytes_read, files.bytes_received)
    files = files.filter(files.layer == "hdfs", ~files.target.contains("/.staging/"), read > 0)
    files = files.mutate(job=files.job.fill_null(""), read=read, is_small=read < SMALL)
    jobs = files.group_by("job").agg(
        files=files.target.nunique(),
        small=files.target.nunique(where=files.is_small),
        bytes=files.read.sum().cast("int64"),
        time=files.time.sum(where=files.is_small).fill_null(0).cast("int64"),
    )
    return jobs.order_by("job")


@rule(
    title="Many small files are read",
    evidence=Query(evidence, FilesRead),
    why="Each file becomes a task of its own. The task starts a JVM, asks the NameNode for the "
    "file and connects to a DataNode, and all this takes longer than reading the bytes.",
    unless="the task of each file computes for many seconds.",
    explains=("short-tasks", "fs-creation", "metadata-storm", "open-churn", "localization"),
)
def judge(rows: list[FilesRead], facts: RunFacts) -> Judgement | None:
    jobs = [row for row in rows if row.small >= LEAST and row.small * 2 >= row.files]
    if not jobs:
        return None
    files, small = sum(row.files for row in jobs), sum(row.small for row in jobs)
    read = sum(row.bytes for row in jobs)
    maps = needed = cost = 0
    for row in jobs:
        of_job = sum(worker.role == "map" for worker in facts.workers_of(row.job))
        enough = max(facts.at_once, row.bytes // BLOCK + 1)
        maps, needed = maps + of_job, needed + enough
        cost += max(0, of_job - enough) * facts.start_up + (0 if of_job else row.time)
    tasks = f", with {count(maps)} map tasks where {needed} would be enough" if maps else ""
    who = "the job" if len(jobs) == 1 else plural(len(jobs), "job")
    return Judgement(
        share=facts.share(cost),
        text=f"{who} read {count(files)} files of {size(read // files)} on average{tasks}; this "
        f"took {seconds(cost)}",
        evidence=[
            Evidence("files that were read", files, "count"),
            Evidence(f"files smaller than {size(SMALL)}", small, "count"),
            Evidence("bytes of all files", read, "bytes"),
            Evidence("map tasks", maps, "count"),
            Evidence("time to start and end a task", facts.start_up, "ns"),
        ],
        change=[
            Change(
                "pack several files into one split",
                "mapreduce.job.inputformat.class",
                "TextInputFormat",
                "CombineTextInputFormat",
            ),
            Change(
                "make splits of this size",
                "mapreduce.input.fileinputformat.split.maxsize",
                "",
                str(BLOCK),
            ),
            Change("write fewer and larger files (merge them, use a SequenceFile or an archive)"),
        ],
    )
