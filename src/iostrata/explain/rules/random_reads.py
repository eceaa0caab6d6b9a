"""Reads of a large file at places far apart, back and forth."""

from __future__ import annotations

from collections.abc import Sequence

import ibis
from ibis.expr import types as ir

from iostrata.analyse.patterns import FarReads, far_reads
from iostrata.analyse.targets import requested
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import DATA
from iostrata.records import Bytes, Count, Ns
from iostrata.schema.directions import DIRECTIONS
from iostrata.text import count, percent, plural, seconds, shortened, size

LEAST = 500  # reads
SEEN = 30  # of which the one before is known
WHOLE = 0.9  # of the reads: as many are all
SMALL = 64 << 10  # bytes of a read
LARGE = 16 << 20  # bytes of a file
LAYERS = ("fs", "hdfs", "java", "posix")
MOST = 1000  # files


class RandomReads(FarReads, frozen=True):
    """Small reads of a large file: with all reads of it, those in sums only, too."""

    calls: Count
    bytes: Bytes
    time: Ns

    @property
    def share(self) -> float:
        """The part of its reads that went far; 0 where they did not go back and forth, or too few
        are known. One who skips goes forward, as one seems to of whose reads some are missing.
        """
        seen, far, back = self.reads, self.far, self.back
        if self.reads < WHOLE * self.calls:
            seen, far, back = self.direct, self.direct_far, self.direct_back
        return far / seen if seen >= SEEN and far * 2 >= seen and back * 4 >= far else 0.0

    @property
    def cost(self) -> int:
        """ns in reads that went far."""
        return int(self.time * self.share)


def evidence(workforce: Workforce) -> ir.Table:
    rows = far_reads(workforce.roles, DATA)
    rows = rows.filter(rows.layer.isin(LAYERS), rows.reach >= LARGE)
    every = requested(DIRECTIONS["read"], DATA, workforce.roles)
    every = every.filter(every.calls >= LEAST, every.bytes < SMALL * every.calls)
    found = rows.inner_join(every, ["layer", "target", "block"])
    return found.order_by(ibis.desc("time"), "layer", "target", "block").limit(MOST)


@rule(
    title="A large file is read at random places",
    evidence=Query(evidence, RandomReads),
    why="A disk moves its head for each place, and readahead brings what nobody asks for. In HDFS, "
    "each place is a request of its own to a DataNode.",
    unless="the file is in memory, or nobody can know the next place before this one is read.",
    explains=("disk-bound", "file-rereading", "small-reads"),
    of_imports=True,
)
def judge(rows: list[RandomReads], facts: RunFacts) -> Judgement | None:
    layers = {row.layer: [one for one in rows if one.layer == row.layer] for row in rows}
    files = max(layers.values(), key=_cost, default=[])
    files = [row for row in files if row.share]
    if not files:
        return None
    worst = max(files, key=lambda row: row.cost)
    calls, moved = (sum(getattr(row, name) for row in files) for name in ("calls", "bytes"))
    where = shortened(worst.target, 48)
    if len(files) > 1:
        where = f"{plural(len(files), 'file')}, most time on {where}"
    return Judgement(
        share=facts.share(_cost(files)),
        text=f"{count(calls)} reads of {size(moved // calls)} on average in layer {worst.layer} "
        f"went to places far from each other, back and forth, and took {seconds(_cost(files))}: "
        f"{where}",
        evidence=_evidence(worst, files),
        change=[
            Change("sort the places before reading, and read neighbours with one request"),
            Change("keep what is read often in memory, or lay the file out in the order of reads"),
            *([_OF_HDFS] if worst.layer == "hdfs" else []),
        ],
        gain=(0.3, 0.9),
    )


_OF_HDFS = Change("read all ranges at once with readVectored()")


def _cost(rows: Sequence[RandomReads]) -> int:
    return sum(row.cost for row in rows)


def _evidence(worst: RandomReads, files: Sequence[RandomReads]) -> list[Evidence]:
    calls = sum(row.calls for row in files)
    recorded = sum(row.reads for row in files)
    return [
        Evidence("reads of these files", calls, "count"),
        Evidence("of them recorded individually, with their place", recorded, "count"),
        Evidence(f"time of the reads of {worst.target}", worst.time, "ns"),
        Evidence(f"of them far from the one before, {percent(worst.share)}", worst.cost, "ns"),
        Evidence("bytes from its first place to its last", worst.reach, "bytes"),
    ]
