"""Programs that force local files to disk again and again."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.text import count, seconds

LEAST = 50  # syncs


@rule(
    title="Local files are forced to disk too often",
    evidence=work("java.sync", "java.write", "posix.sync", "posix.write"),
    why="force() and fsync() wait for the disk. That takes some milliseconds, however few bytes "
    "were written.",
    unless="each record must survive a power failure.",
    explains=("disk-bound",),
    of_imports=True,
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    layer = max(("java", "posix"), key=lambda name: one(rows, f"{name}.sync").time)
    sync, write = one(rows, f"{layer}.sync"), one(rows, f"{layer}.write")
    if sync.calls < LEAST:
        return None
    each = write.written // sync.calls
    return Judgement(
        share=facts.share(sync.time),
        text=f"programs forced local files to disk {count(sync.calls)} times, after every "
        f"{count(each)} bytes on average, which took {seconds(sync.time)}",
        evidence=[
            Evidence("syncs", sync.calls, "count"),
            Evidence("time of all syncs", sync.time, "ns"),
            Evidence("bytes between two syncs", each, "bytes"),
        ],
        change=[Change("force a file once for many writes (group commit)")],
        gain=(0.6, 1.0),
    )
