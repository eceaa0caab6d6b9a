"""Writers that flush HDFS streams often and wait for the acknowledgement each time."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.text import count, seconds

LEAST = 500  # flushes


@rule(
    title="HDFS streams are flushed too often",
    evidence=work("hdfs.sync", "hdfs.send_packet"),
    why="hflush() waits until all DataNodes of the pipeline have acknowledged the bytes. That is a "
    "round trip through each of them, for a packet that is nearly empty.",
    unless="readers have to see each record at once.",
    explains=("small-writes",),
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    flush, packets = one(rows, "hdfs.sync"), one(rows, "hdfs.send_packet")
    if flush.calls < LEAST:
        return None
    each = packets.sent // flush.calls
    return Judgement(
        share=facts.share(flush.time),
        text=f"writers flushed {count(flush.calls)} times, after every {count(each)} bytes on "
        f"average, and waited {seconds(flush.time)} for the flushes",
        evidence=[
            Evidence("flushes", flush.calls, "count"),
            Evidence("time of writers in flushes", flush.time, "ns"),
            Evidence("bytes between two flushes", each, "bytes"),
        ],
        change=[Change("flush once for many records, or at fixed intervals")],
        gain=(0.7, 1.0),
    )
