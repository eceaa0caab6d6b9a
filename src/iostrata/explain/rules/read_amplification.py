"""DataNodes send much more than programs read."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, by_all, by_workers, one, operation_sums
from iostrata.text import seconds, size

TIMES = 1.5
LEAST = 8 << 20  # bytes


@rule(
    title="DataNodes send more than programs read",
    evidence=operation_sums(
        by_all("datanode.send_packet"), by_workers("hdfs.read", "hdfs.read_vectored")
    ),
    why="After a seek the stream asks for the rest of the block. When the next seek comes, the "
    "bytes that are on their way are thrown away.",
    unless="the reads are rare and the network is idle.",
    explains=("random-reads", "small-reads", "low-locality", "rereading"),
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    sent = one(rows, "datanode.send_packet").sent
    reads = [one(rows, "hdfs.read"), one(rows, "hdfs.read_vectored")]
    read, time = sum(row.read for row in reads), sum(row.time for row in reads)
    if sent < LEAST or not read or sent < TIMES * read:
        return None
    cost = int(time * (1 - read / sent))
    return Judgement(
        share=facts.share(cost),
        text=f"DataNodes sent {size(sent)}, {sent / read:.1f} times the {size(read)} that programs "
        f"read; the reads took {seconds(time)}",
        evidence=[
            Evidence("bytes that DataNodes sent", sent, "bytes"),
            Evidence("bytes that programs read", read, "bytes"),
            Evidence("time of the reads", time, "ns"),
        ],
        change=[
            Change(
                "use positional reads (pread) for places that are far apart, because they ask only "
                "for the bytes that they need"
            ),
            Change("read all ranges at once with readVectored()"),
            Change("sort the places before you read them, so that reads go forward"),
        ],
        gain=(0.3, 1.0),
    )
