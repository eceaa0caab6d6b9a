"""Containers that wait for files to be copied to their node."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain.facts import Query, RunFacts, Workforce
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.explain.rules.parts import OperationSum, account, named, one
from iostrata.text import count, seconds


def evidence(workforce: Workforce) -> ir.Table:
    names = ("task.localize", "task.download", "hdfs.receive_packet")
    rows = named(*names)
    return account(rows.filter(rows.role == "NodeManager"), "layer", "op").order_by("layer", "op")


def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    localize, download = one(rows, "task.localize"), one(rows, "task.download")
    if not localize.calls:
        return None
    each = localize.time // localize.calls
    return Judgement(
        share=facts.share_of_wall(localize.time / localize.calls),
        text=f"containers waited {seconds(each)} on average while {count(download.calls)} files "
        "were copied to their nodes",
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


RULE = Rule(
    title="Containers wait for their files",
    evidence=Query(evidence, OperationSum),
    judge=judge,
    why="Before the first task of a job runs on a node, the jars and files of the job are copied "
    "to this node.",
    unless="the files change with every job, and each job needs all of them.",
)
