"""DataNodes send much more than programs read."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.explain.rules.parts import OperationSum, account, named, one
from iostrata.text import seconds, size

TIMES = 1.5
LEAST = 8 << 20  # bytes


def evidence(scope: Scope) -> ir.Table:
    sent = account(named("datanode.send_packet"), "layer", "op")
    read = account(scope.workers(named("hdfs.read", "hdfs.read_vectored")), "layer", "op")
    return sent.union(read).order_by("layer", "op")


def judge(rows: list[OperationSum], facts: Facts) -> Judgement | None:
    sent = one(rows, "datanode.send_packet").sent
    reads = [one(rows, "hdfs.read"), one(rows, "hdfs.read_vectored")]
    read, time = sum(row.read for row in reads), sum(row.time for row in reads)
    if sent < LEAST or not read or sent < TIMES * read:
        return None
    cost = int(time * (1 - read / sent))
    return Judgement(
        share=facts.share(cost),
        text=f"DataNodes sent {size(sent)} for {size(read)} that were read: "
        f"{sent / read:.1f} times as much; reads took {seconds(time)}",
        evidence=[
            Evidence("bytes that DataNodes sent", sent, "bytes"),
            Evidence("bytes that were read", read, "bytes"),
            Evidence("time of the reads", time, "ns"),
        ],
        change=[
            Change("positional reads (pread) for places far apart: they ask for what they need"),
            Change("read vectored: readVectored() of all ranges at once"),
            Change("sort the places before reading, so that reads go forward"),
        ],
        gain=(0.3, 1.0),
    )


RULE = Rule(
    name="read-amplification",
    title="More is sent than is read",
    row=OperationSum,
    evidence=evidence,
    judge=judge,
    why="After a seek the stream asks for the rest of the block; what was on its way when the next "
    "seek comes is thrown away.",
    unless="the reads are rare and the network is idle.",
    explains=("small-reads", "low-locality", "rereading"),
)
