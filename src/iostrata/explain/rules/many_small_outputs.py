"""Outputs of many small files: a create, a pipeline and a close each."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.text import count, seconds, size

LEAST = 50  # files
SMALL = 4 << 20  # bytes a file


def evidence(scope: Scope) -> ir.Table:
    names = ("create", "connect", "close", "send_packet")
    return work(scope, *(f"hdfs.{name}" for name in names))


def judge(rows: list[OperationSum], facts: Facts) -> Judgement | None:
    files = one(rows, "hdfs.close").calls
    if files < LEAST * max(1, len(facts.workers)):
        return None
    mean = one(rows, "hdfs.send_packet").sent // files
    if mean >= SMALL:
        return None
    cost = one(rows, "hdfs.create").time + one(rows, "hdfs.close").time
    return Judgement(
        share=facts.share(cost),
        text=f"{count(files)} files of {size(mean)} on average were written; to create and close "
        f"them took {seconds(cost)}",
        evidence=[
            Evidence("files written", files, "count"),
            Evidence("bytes a file", mean, "bytes"),
            Evidence("time to create", one(rows, "hdfs.create").time, "ns"),
            Evidence("time to close", one(rows, "hdfs.close").time, "ns"),
        ],
        change=[Change("write records of many files into one (SequenceFile, Parquet, HAR)")],
        gain=(0.6, 1.0),
    )


RULE = Rule(
    name="many-small-outputs",
    title="Many small files are written",
    row=OperationSum,
    evidence=evidence,
    judge=judge,
    why="A file costs a create, a block, a pipeline of DataNodes and a close before its first "
    "byte is safe, and memory of the NameNode for as long as it lives.",
    unless="others need each file by its name at once.",
    explains=("metadata-storm", "small-blocks", "namenode-edit-log"),
)
