"""Containers that wait for files to be copied to their node."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, by_all, one, operation_sums
from iostrata.text import plural, seconds


@rule(
    title="Containers wait for their files",
    evidence=operation_sums(
        by_all("task.localize", "task.download", "hdfs.receive_packet", role="NodeManager")
    ),
    why="Before the first task of a job runs on a node, the jars and files of the job are copied "
    "to this node.",
    unless="the files change with every job, and each job needs all of them.",
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    localize, download = one(rows, "task.localize"), one(rows, "task.download")
    if not localize.calls:
        return None
    each = localize.time // localize.calls
    return Judgement(
        share=facts.share_of_wall(localize.time / localize.calls),
        text=f"containers waited {seconds(each)} on average while "
        f"{plural(download.calls, 'file')} {'was' if download.calls == 1 else 'were'} copied to "
        "their nodes",
        evidence=[
            Evidence("localizations", localize.calls, "count"),
            Evidence("average time of a localization", each, "ns"),
            Evidence("files that were copied", download.calls, "count"),
            Evidence("bytes that were copied", one(rows, "hdfs.receive_packet").received, "bytes"),
        ],
        change=[
            Change(
                "share the files that jobs bring, in the shared cache or as jars on the nodes",
                "mapreduce.application.framework.path",
            ),
            Change("make files of the distributed cache public, so that they stay on the nodes"),
        ],
        gain=(0.4, 0.9),
    )
