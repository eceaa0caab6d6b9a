"""Tasks that write a log line for each record."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.account import Account
from iostrata.explain import Change, Evidence, Judgement, Kind, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import account, named
from iostrata.text import count, seconds, size

LEAST = 10_000  # writes


class LogWrites(Account, frozen=True):
    """Writes to logs, or to pipes."""

    category: str


def evidence(workforce: Workforce) -> ir.Table:
    rows = workforce.rows(named("java.write", "posix.write"))
    rows = rows.filter(rows.category.isin(["log", "pipe"]))
    return account(rows, "category").order_by("category")


_HIGHER_LEVEL = [Change("log less: raise the level of the logger")]
LESS: dict[Kind, list[Change]] = {
    "mapreduce": [Change("log less", "mapreduce.map.log.level", after="WARN")],
    "spark": _HIGHER_LEVEL,
    "hbase": _HIGHER_LEVEL,
    "program": _HIGHER_LEVEL,
}


@rule(
    title="Logging takes much of the time",
    evidence=Query(evidence, LogWrites),
    why="Each line is formatted and written by itself. The formatting, which is not seen here, "
    "costs more than the write.",
    unless="the lines are the output of the job.",
    explains=("small-writes",),
    of_imports=True,
)
def judge(rows: list[LogWrites], facts: RunFacts) -> Judgement | None:
    calls, time = sum(row.calls for row in rows), sum(row.time for row in rows)
    written = sum(row.written for row in rows)
    if calls < LEAST:
        return None
    return Judgement(
        share=facts.share(time),
        text=f"{count(calls)} writes to logs took {seconds(time)} and wrote {size(written)}",
        evidence=[
            Evidence("writes to logs", calls, "count"),
            Evidence("bytes of these writes", written, "bytes"),
            Evidence("time of these writes", time, "ns"),
        ],
        change=[
            *LESS[facts.kind],
            Change("log no line for each record; count records instead"),
        ],
        gain=(0.8, 2.0),
    )
