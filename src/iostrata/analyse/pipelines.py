"""DataNodes that left the pipelines of writers: which, whether they died, and how it went on."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, EVENTS, PROCESSES
from iostrata.records import Count, EpochNs, Ns, Record
from iostrata.text import seconds

# A traced process is the DataNode that a writer has dropped if it worked for this writer and ended
# so shortly before; a collector may learn of the end after the writer, and hosts have clocks.
_BEFORE, _AFTER = 10 * 10**9, 5 * 10**9


class PipelineFailure(Record, frozen=True):
    """A DataNode left the pipeline of a block that a process was writing, or was about to write.

    `recovery` is the time that it took to set the pipeline up again, null while that goes on.
    `recovered`: the NameNode has taken the new pipeline; `moved`: it has not, and gave another
    block instead; `failed`: neither, and a call of the writer failed. `held` is how long a call of
    the writer waited for it, also before the failure was noticed; where the writer's calls are in
    sums only, it is `recovery`.
    """

    host: str | None
    role: str | None
    proc: int | None
    trace: int | None
    datanode: str
    file: str | None
    at: EpochNs
    recovery: Ns | None
    recovered: bool
    moved: bool
    failed: bool
    held: Ns


class LostDataNode(Record, frozen=True):
    """A DataNode, `address:port`, that left the write pipelines of blocks.

    `fate`: its traced process `died` at `at`, or `ended` in an orderly way; of all others it is
    known only that a writer noticed at `at` that it had `left`. `host` is that of the process.
    Of the pipelines some `recovered`, after `recovery` at most, others were given up for a block on
    other DataNodes (`moved`), and of others the write `failed`. `file` is one of the `files`.
    `held` is for how long writers waited, all together.
    """

    datanode: str
    host: str | None
    fate: Literal["died", "ended", "left"]
    at: EpochNs
    pipelines: Count
    recovered: Count
    moved: Count
    failed: Count
    files: Count
    file: str | None
    recovery: Ns | None
    held: Ns


def departure(lost: LostDataNode, begin: int) -> str:
    """`DataNode 10.0.0.3:9866 on node3 died at 12.30 s`, of a run that began at `begin`."""
    where = f" on {lost.host}" if lost.host else ""
    pipelines = f"{lost.pipelines} write pipelines" if lost.pipelines > 1 else "the write pipeline"
    how = f"left {pipelines}" if lost.fate == "left" else lost.fate
    at = f" at {seconds(max(0, lost.at - begin))}" if begin else ""
    return f"DataNode {lost.datanode}{where} {how}{at}"


def blocks_of(lost: LostDataNode) -> str:
    """`1 block, /a`, or `3 blocks, /a and 1 more file`."""
    blocks = f"{lost.pipelines} block{'s' if lost.pipelines > 1 else ''}"
    more = lost.files - 1
    others = f" and {more} more file{'s' if more > 1 else ''}" if more > 0 else ""
    return f"{blocks}, {lost.file}{others}" if lost.file else blocks


def pipeline_failures(roles: Collection[str] = ()) -> ir.Table:
    """Each `PipelineFailure` of processes with these roles, or of all, in order of time."""
    rows = _with_setup(_left(roles))
    rows = _with_writer(rows)
    of_file = ibis.window(group_by=["proc", "file"], order_by="at")
    since = rows.entered.fill_null(rows.begin)
    # what a call waited for the pipeline before, it did not wait for this one
    since = ibis.greatest(since, rows.done.lag().over(of_file).fill_null(since))
    waited = ibis.least(rows.done, rows.exited.fill_null(rows.done)) - since
    rows = rows.mutate(
        recovery=rows.done - rows.begin,
        failed=~rows.recovered & ~rows.moved & rows.failed,
        held=ibis.greatest(waited.fill_null(0), 0),
    )
    return rows.select(*PipelineFailure.__struct_fields__).order_by("at", "datanode", "proc")


def _left(roles: Collection[str]) -> ir.Table:
    rows = CALLS.filter(
        CALLS.layer == "hdfs", CALLS["op"] == "check_pipeline", CALLS.peer.notnull()
    )
    rows = rows.filter(rows.role.isin(tuple(roles))) if roles else rows
    names = ("host", "role", "proc", "trace", "span", "parent")
    return rows.select(*names, datanode="peer", file="target", at="start")


def _with_setup(rows: ir.Table) -> ir.Table:
    """With `begin` and `done` of the call that sets the pipeline up, and whether it `recovered` or
    the block was `moved`.
    """
    made = CALLS.filter(CALLS.layer == "hdfs", CALLS["op"] == "set_up_pipeline")
    made = made.select(
        maker="proc",
        setup="span",
        stream="parent",
        begin="start",
        done=made.start + made.dur.fill_null(0),
    )
    taken, given = _answered("updatePipeline", "taken"), _answered("addBlock", "given")
    rows = rows.left_join(made, [rows.proc == made.maker, rows.parent == made.setup])
    rows = rows.left_join(taken, [rows.proc == taken.taken_to, rows.parent == taken.taken_in])
    rows = rows.left_join(given, [rows.proc == given.given_to, rows.stream == given.given_in])
    recovered = rows.taken_in.notnull()
    moved = ~recovered & (rows.given_last >= rows.done).fill_null(False)
    return rows.mutate(recovered=recovered, moved=moved)


def _answered(method: str, name: str) -> ir.Table:
    """When each call last asked the NameNode for something, and was answered."""
    rows = CALLS.filter(
        CALLS.layer == "rpc",
        CALLS["op"] == "call",
        CALLS.target == f"ClientProtocol.{method}",
        CALLS.error.isnull(),
    )
    names = {f"{name}_to": rows.proc, f"{name}_in": rows.parent}
    return rows.group_by(**names).agg(**{f"{name}_last": rows.start.max()})


def _with_writer(rows: ir.Table) -> ir.Table:
    """With the first begin and the last end of the writer's calls that were open meanwhile, and
    whether one `failed` then or later.
    """
    calls = CALLS.filter(
        CALLS.layer.isin(["fs", "hdfs"]), CALLS["op"].isin(["write", "sync", "close"])
    )
    calls = calls.select(
        writer="proc",
        written="target",
        call_begin="start",
        call_end=calls.start + calls.dur.fill_null(0),
        call_failed=calls.error.notnull(),
    )
    joined = rows.left_join(
        calls,
        [rows.proc == calls.writer, rows.file == calls.written, calls.call_end >= rows.at],
    )
    kept = ("host", "role", "proc", "trace", "span", "datanode", "file")
    times = ("at", "begin", "done", "recovered", "moved")
    meanwhile = joined.call_begin <= joined.done
    return joined.group_by(*kept, *times).agg(
        entered=joined.call_begin.min(where=meanwhile),
        exited=joined.call_end.max(where=meanwhile),
        failed=joined.call_failed.fill_null(False).any(),
    )


def lost_datanodes(roles: Collection[str] = ()) -> ir.Table:
    """Each `LostDataNode` of pipelines of processes with these roles, or of all, by time."""
    failures = pipeline_failures(roles)
    lost = failures.group_by("datanode").agg(
        noticed=failures.at.min(),
        pipelines=failures.count(),
        recovered=failures.count(where=failures.recovered),
        moved=failures.count(where=failures.moved),
        failed=failures.count(where=failures.failed),
        files=failures.file.nunique(),
        file=failures.file.min(),
        recovery=failures.recovery.max(where=failures.recovered),
        held=failures.held.sum().cast("int64"),
    )
    ends = _ends(failures)
    rows = lost.left_join(ends, lost.datanode == ends.claimer)
    killed, ended = rows.exit == "killed", rows.exit == "ended"
    rows = rows.mutate(
        fate=ibis.cases((killed, "died"), (ended, "ended"), else_="left"),
        at=ibis.least(rows.noticed, rows.ended.fill_null(rows.noticed)),
    )
    return rows.select(*LostDataNode.__struct_fields__).order_by("at", "datanode")


def _ends(failures: ir.Table) -> ir.Table:
    """Of DataNodes whose process is known: its host, its exit and when it ended.

    No process says its address. A process is taken for a DataNode if no more DataNodes than
    processes come into question: of two that fail while one process dies, nobody knows which died.
    """
    served = EVENTS.filter(
        EVENTS.layer == "datanode",
        EVENTS["op"] == "write_block",
        EVENTS.kind.isin(["begin", "call", "unfinished"]),
    )
    served = served.select(server="proc", served_for="trace").distinct()
    gone = PROCESSES.filter(
        PROCESSES.role == "DataNode", PROCESSES.traced, PROCESSES.exit.isin(["killed", "ended"])
    )
    gone = gone.select(process="proc", of_host="host", exit="exit", ended="end")
    rows = failures.join(served, failures.trace == served.served_for)
    rows = rows.join(gone, rows.server == gone.process)
    in_time = rows.ended.between(rows.at - _BEFORE, rows.at + _AFTER)
    rows = rows.filter(in_time).select("datanode", "process", "of_host", "exit", "ended").distinct()
    rows = rows.mutate(
        processes=rows.process.count().over(ibis.window(group_by="datanode")),
        claimers=rows.datanode.count().over(ibis.window(group_by="process")),
    )
    rows = rows.filter(rows.claimers <= rows.processes)
    return rows.group_by(claimer="datanode").agg(
        host=ibis.ifelse(rows.process.nunique() == 1, rows.of_host.min(), ibis.null("string")),
        exit=rows.exit.min(),
        ended=rows.ended.min(),
    )
