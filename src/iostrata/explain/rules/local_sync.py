"""Programs that force local files to disk again and again."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import (
    BELOW_4_KIB,
    DATA,
    ONE_BYTE,
    OperationSum,
    account,
    by_workers,
)
from iostrata.records import Count, Ns
from iostrata.text import count, seconds

LEAST = 50  # syncs
# ns; of many small writes into memory, at least one is quicker than this.
IN_MEMORY = 50_000


class Forced(OperationSum, frozen=True):
    """What was done in an operation of a layer, and of it `forced` calls, each of which waited for
    the disk: all syncs, and small writes of which even the quickest took long.
    """

    forced: Count
    waited: Ns


def evidence(workforce: Workforce) -> ir.Table:
    rows = by_workers("java.sync", "java.write", "posix.sync", "posix.write")(workforce)
    sums, slow = account(rows, "layer", "op"), _slow_writes(rows)
    sums = sums.left_join(slow, (sums.layer == slow.of_layer) & (sums["op"] == slow.of_op))
    sums = sums.drop("of_layer", "of_op")
    is_sync = sums["op"] == "sync"
    return sums.mutate(
        forced=is_sync.ifelse(sums.calls, sums.forced.fill_null(0)),
        waited=is_sync.ifelse(sums.time, sums.waited.fill_null(0)),
    ).order_by("layer", "op")


def _slow_writes(rows: ir.Table) -> ir.Table:
    """Small writes to local files of a JVM, of one kind and process, that always waited: the file
    was opened to be synchronous, or lies on a file system that has no memory between.
    """
    rows = rows.filter(
        rows.layer == "java",
        rows["op"] == "write",
        rows.category.isin([*DATA, "log"]),
        rows.size_class.between(ONE_BYTE, BELOW_4_KIB),
    )
    kinds = rows.group_by("layer", "op", "proc", "point", "size_class").agg(
        calls=rows["count"].sum(),
        timed=rows.timed_dur.sum(),
        weight=rows.weight.fill_null(rows.timed).sum(),
        quickest=rows["min"].min(),
    )
    time = (kinds.timed * kinds.calls / kinds.weight.nullif(0)).fill_null(0.0).floor()
    kinds = kinds.mutate(time=time).filter(kinds.quickest >= IN_MEMORY, kinds.calls >= LEAST)
    return kinds.group_by(of_layer="layer", of_op="op").agg(
        forced=kinds.calls.sum().cast("int64"), waited=kinds.time.sum().cast("int64")
    )


@rule(
    title="Local files are forced to disk too often",
    evidence=Query(evidence, Forced),
    why="force() and fsync() wait for the disk, and so does each write to a file that was opened "
    "to be synchronous (rws, rwd). That takes some milliseconds, however few bytes were written.",
    unless="each record must survive a power failure.",
    explains=("disk-bound",),
    of_imports=True,
)
def judge(rows: list[Forced], facts: RunFacts) -> Judgement | None:
    of_layers = [[row for row in rows if row.layer == layer] for layer in ("java", "posix")]
    worst = max(of_layers, key=lambda layer: sum(row.waited for row in layer))
    calls, time = sum(row.forced for row in worst), sum(row.waited for row in worst)
    if calls < LEAST:
        return None
    each = sum(row.written for row in worst) // calls
    return Judgement(
        share=facts.share(time),
        text=f"programs forced local files to disk {count(calls)} times, after every "
        f"{count(each)} bytes on average, which took {seconds(time)}",
        evidence=[
            *(Evidence(_named(row.op), row.forced, "count") for row in worst if row.forced),
            Evidence("time in which these waited", time, "ns"),
            Evidence("bytes between two of them", each, "bytes"),
        ],
        change=[Change("force a file once for many writes (group commit)")],
        gain=(0.6, 1.0),
    )


def _named(operation: str) -> str:
    return "syncs" if operation == "sync" else "small writes that waited for the disk each"
