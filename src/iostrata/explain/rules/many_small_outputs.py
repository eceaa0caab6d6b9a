"""Outputs of many small files: a create, a pipeline and a close each."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.text import count, seconds, size

LEAST = 50  # files
SMALL = 4 << 20  # bytes a file


@rule(
    title="Many small files are written",
    evidence=work("hdfs.create", "hdfs.connect", "hdfs.close", "hdfs.send_packet"),
    why="Before its first byte is safe, a file costs a create, a block, a pipeline of DataNodes "
    "and a close. For as long as it exists, it takes memory of the NameNode.",
    unless="other programs need each file by its name at once.",
    explains=("metadata-storm", "small-blocks", "namenode-edit-log"),
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    files = one(rows, "hdfs.close").calls
    if files < LEAST * max(1, len(facts.workers)):
        return None
    mean = one(rows, "hdfs.send_packet").sent // files
    if mean >= SMALL:
        return None
    cost = one(rows, "hdfs.create").time + one(rows, "hdfs.close").time
    return Judgement(
        share=facts.share(cost),
        text=f"{count(files)} files of {size(mean)} on average were written; creating and closing "
        f"them took {seconds(cost)}",
        evidence=[
            Evidence("files that were written", files, "count"),
            Evidence("average bytes of a file", mean, "bytes"),
            Evidence("time to create the files", one(rows, "hdfs.create").time, "ns"),
            Evidence("time to close the files", one(rows, "hdfs.close").time, "ns"),
        ],
        change=[Change("write the records of many files into one (SequenceFile, Parquet, HAR)")],
        gain=(0.6, 1.0),
    )
