"""Inputs of many small files: a task, a lookup and an open each."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.targets import targets
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.text import count, seconds, size

SMALL = 4 << 20  # bytes
LEAST = 20  # files
BLOCK = 128 << 20  # bytes that a task could have read


class FilesRead(Record, frozen=True):
    """Files of HDFS that were read; `time`: of those that are small."""

    files: Count
    small: Count
    bytes: Bytes
    time: Ns


def evidence(workforce: Workforce) -> ir.Table:
    files = targets(workforce.roles)
    read = ibis.greatest(files.bytes_read, files.bytes_received)
    files = files.filter(files.layer == "hdfs", ~files.target.contains("/.staging/"), read > 0)
    small = read < SMALL
    return files.agg(
        files=files.target.nunique(),
        small=files.target.nunique(where=small),
        bytes=read.sum().fill_null(0).cast("int64"),
        time=files.time.sum(where=small).fill_null(0).cast("int64"),
    )


@rule(
    title="Many small files are read",
    evidence=Query(evidence, FilesRead),
    why="Each file becomes a task of its own. The task starts a JVM, asks the NameNode for the "
    "file and connects to a DataNode, and all this takes longer than reading the bytes.",
    unless="the task of each file computes for many seconds.",
    explains=("short-tasks", "fs-creation", "metadata-storm", "open-churn", "localization"),
)
def judge(rows: list[FilesRead], facts: RunFacts) -> Judgement | None:
    row = rows[0]
    if row.small < LEAST or row.small * 2 < row.files:
        return None
    maps = [worker for worker in facts.workers if worker.role == "map"]
    needed = max(facts.at_once, row.bytes // BLOCK + 1)
    spare = max(0, len(maps) - needed)
    cost = spare * facts.start_up + (0 if maps else row.time)
    mean = row.bytes // row.files
    tasks = f", with {count(len(maps))} map tasks where {needed} would be enough" if maps else ""
    return Judgement(
        share=facts.share(cost),
        text=f"the job read {count(row.files)} files of {size(mean)} on average{tasks}; this took "
        f"{seconds(cost)}",
        evidence=[
            Evidence("files that were read", row.files, "count"),
            Evidence(f"files smaller than {size(SMALL)}", row.small, "count"),
            Evidence("bytes of all files", row.bytes, "bytes"),
            Evidence("map tasks", len(maps), "count"),
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
