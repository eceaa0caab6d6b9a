"""Files that are opened anew for each piece that is read."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.records import Count, Ns, Record
from iostrata.text import count, plural, seconds

LEAST = 100  # opens
EACH = 8  # of a file


class Reopened(Record, frozen=True):
    """Files that were opened often, and all their opens."""

    files: Count
    opens: Count
    time: Ns


def evidence(workforce: Workforce) -> ir.Table:
    rows = workforce.rows(CALLS)
    rows = rows.filter(
        rows.layer.isin(["hdfs", "posix"]), rows["op"] == "open", rows.error.isnull()
    )
    # programs of their own open the same libraries
    opener = ibis.ifelse(rows.layer == "posix", rows.proc, None)
    rows = rows.mutate(opener=opener)
    by_file = rows.group_by("opener", "target").agg(
        opens=rows.count(), time=rows.dur.sum().cast("int64")
    )
    often = by_file.opens >= EACH
    return by_file.agg(
        files=by_file.count(where=often),
        opens=by_file.opens.sum(where=often).fill_null(0).cast("int64"),
        time=by_file.time.sum(where=often).fill_null(0).cast("int64"),
    )


@rule(
    title="The same files are opened again and again",
    evidence=Query(evidence, Reopened),
    why="Each open looks the file up again; in HDFS it asks the NameNode for its blocks, and the "
    "first read after it connects to a DataNode.",
    unless="the file changes between the opens.",
    explains=("metadata-storm", "random-reads", "read-amplification", "rereading", "small-reads"),
    of_imports=True,
)
def judge(rows: list[Reopened], facts: RunFacts) -> Judgement | None:
    row = rows[0]
    if row.opens < LEAST:
        return None
    cost = row.time * (row.opens - row.files) // row.opens
    return Judgement(
        share=facts.share(cost),
        text=f"programs opened {plural(row.files, 'file')} {count(row.opens)} times; all opens but "
        f"the first of each file took {seconds(cost)}",
        evidence=[
            Evidence("files", row.files, "count"),
            Evidence("opens", row.opens, "count"),
            Evidence("time of all opens", row.time, "ns"),
        ],
        change=[Change("open each file once and keep the stream; use positional reads")],
        gain=(0.8, 1.0),
    )
