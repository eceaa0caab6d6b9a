"""A file that the ranks of a parallel program write together, and wait for each other in."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.targets import WrittenTogether, written_together
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import DATA
from iostrata.text import count, seconds, shortened, size

SMALL = 1 << 20  # bytes of a write
LEAST = 1000  # small writes
TIMES = 1.5  # the slowest rank, beside the mean of all

_COLLECT = [
    Change("let some ranks collect the data and write it (collective writes of MPI-IO or HDF5)"),
    Change("write a file for each rank, or for each node, where readers allow that"),
]
_SPREAD = [
    Change("stripe the file over more storage targets, and begin each rank's part at a stripe"),
    *_COLLECT,
]


def evidence(workforce: Workforce) -> ir.Table:
    rows = written_together(DATA, workforce.roles)
    return rows.filter(rows.layer.isin(["posix", "fs"]))


@rule(
    title="Ranks hold each other up in a file that they share",
    evidence=Query(evidence, WrittenTogether),
    why="Parts of a file that lie in one block or stripe have one lock, which writers take in "
    "turns; and the last of them is the one that all wait for.",
    unless="the file system gives each writer its own part of the file, as burst buffers do.",
    explains=("misaligned",),
    of_imports=True,
)
def judge(rows: list[WrittenTogether], facts: RunFacts) -> Judgement | None:
    # Hadoop's files have one writer each, and local ones of a node are those of its processes
    if not facts.is_native or len(facts.workers) < 2:
        return None
    found = [_small(row, facts) or _uneven(row, facts) for row in rows]
    return max((each for each in found if each), key=lambda each: each.share, default=None)


def _small(row: WrittenTogether, facts: RunFacts) -> Judgement | None:
    if row.calls < LEAST or row.bytes >= SMALL * row.calls:
        return None
    return Judgement(
        share=facts.share(row.time),
        text=f"{_ranks(row, facts)} ranks wrote {shortened(row.target, 48)} together, with "
        f"{count(row.calls)} writes of {size(row.bytes // row.calls)} on average in layer "
        f"{row.layer}, which took {seconds(row.time)}",
        evidence=_evidence(row),
        change=_COLLECT,
        gain=(0.3, 0.9),
    )


def _uneven(row: WrittenTogether, facts: RunFacts) -> Judgement | None:
    """By the time of the slowest rank, which is known of files that all ranks share."""
    known = facts.counted.get(row.target)
    if known is None or row.layer != "posix":
        return None
    mean = known.time // len(facts.workers)
    if known.slowest <= TIMES * mean:
        return None
    return Judgement(
        share=facts.share_of_wall(known.slowest - mean),
        text=f"{_ranks(row, facts)} ranks wrote {shortened(row.target, 48)} together; the slowest "
        f"spent {seconds(known.slowest)} in calls on it, the mean is {seconds(mean)}",
        evidence=[
            *_evidence(row),
            Evidence("time of the slowest rank in calls on the file", known.slowest, "ns"),
            Evidence("mean time of the ranks", mean, "ns"),
        ],
        change=_SPREAD,
        gain=(0.2, 0.8),
    )


def _ranks(row: WrittenTogether, facts: RunFacts) -> str:
    """Rows of several processes together are those of all of them."""
    return count(row.writers if row.writers > 1 else len(facts.workers))


def _evidence(row: WrittenTogether) -> list[Evidence]:
    return [
        Evidence("writes of the file", row.calls, "count"),
        Evidence("bytes that were written", row.bytes, "bytes"),
        Evidence("time of the writes, all ranks", row.time, "ns"),
    ]
