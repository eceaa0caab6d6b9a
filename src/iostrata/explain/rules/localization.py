"""Containers that wait for files to be copied to their node."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.explain.rules.parts import OperationSum, account, named, one
from iostrata.text import count, seconds


def evidence(scope: Scope) -> ir.Table:
    names = ("task.localize", "task.download", "hdfs.receive_packet")
    rows = named(*names)
    return account(rows.filter(rows.role == "NodeManager"), "layer", "op").order_by("layer", "op")


def judge(rows: list[OperationSum], facts: Facts) -> Judgement | None:
    localize, download = one(rows, "task.localize"), one(rows, "task.download")
    if not localize.calls:
        return None
    return Judgement(
        share=facts.share_of_wall(localize.time / localize.calls),
        text=f"containers waited {seconds(localize.time // localize.calls)} on average "
        f"until {count(download.calls)} files were on their nodes",
        evidence=[
            Evidence("localizations", localize.calls, "count"),
            Evidence("time of one", localize.time // localize.calls, "ns"),
            Evidence("files copied", download.calls, "count"),
            Evidence("bytes", one(rows, "hdfs.receive_packet").received, "bytes"),
        ],
        change=[
            Change(
                "share what jobs bring: the shared cache, or jars installed on the nodes",
                "mapreduce.application.framework.path",
            ),
            Change("public instead of private files of the distributed cache, so that they stay"),
        ],
        gain=(0.4, 0.9),
    )


RULE = Rule(
    name="localization",
    title="Containers wait for their files",
    row=OperationSum,
    evidence=evidence,
    judge=judge,
    why="Before the first task of a job runs on a node, its jars and files are copied there.",
    unless="the files change with each job and are all needed.",
)
