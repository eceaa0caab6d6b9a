"""Which calls wait for a peer, a queue or a lock: until another thread, process or host is done."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.account import Account, account
from iostrata.analyse.tables import CALLS, SUMS
from iostrata.records import Record

# Operations whose own time is such waiting.
WAITING_OPERATIONS = (
    "rpc.call",
    "hdfs.connect",
    "hdfs.stream",
    "hdfs.wait_acks",
    "hdfs.back_off",
    "hdfs.receive_packet",
    "hdfs.receive_acks",
    "java.receive",
    "java.accept",
    "task.shuffle",
    "task.connect",
    "task.receive",
    "task.wait",
    "namenode.read_lock",
    "namenode.write_lock",
    "datanode.ack",
    "datanode.respond",
)
# Who reads a pipe waits for the process at its other end: Spark's drivers do so for as long as they
# live. Shorter calls would be many, and make no path.
_LONG = 1_000_000  # ns


class PipeReads(Account, frozen=True):
    """Reads of pipes by processes of a role on a host; '' where that is not known."""

    role: str
    host: str


class LongPipeRead(Record, frozen=True):
    """A read of a pipe that took a millisecond or more."""

    proc: int
    span: int


def pipe_reads() -> ir.Table:
    """The `PipeReads` of each role and host."""
    rows = SUMS.filter((SUMS.layer == "java") & (SUMS["op"] == "read") & (SUMS.category == "pipe"))
    rows = rows.mutate(role=rows.role.fill_null(""), host=rows.host.fill_null(""))
    return account(rows, "role", "host")


def long_pipe_reads() -> ir.Table:
    """Each `LongPipeRead`."""
    rows = CALLS.filter(
        (CALLS.layer == "java") & (CALLS["op"] == "read") & (CALLS.category == "pipe"),
        CALLS.dur >= _LONG,
        CALLS.proc.notnull() & CALLS.span.notnull(),
    )
    return rows.select("proc", "span")
