"""Reads of a large file at places far apart, back and forth."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.patterns import far_reads
from iostrata.analyse.tables import CALLS, SUMS, counted_once
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import DATA
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.schema.directions import DIRECTIONS
from iostrata.text import count, plural, seconds, shortened, size

LEAST = 500  # reads
SMALL = 64 << 10  # bytes of a read
LARGE = 16 << 20  # bytes of a file
LAYERS = ("fs", "hdfs", "java", "posix")


class RandomReads(Record, frozen=True):
    """Files and blocks of a layer that were read at random: `far` reads, which took `time`, of all
    their reads; the one that took longest. `recorded` of `all_reads` of the layer were recorded
    individually.
    """

    layer: str
    files: Count
    target: str
    reads: Count
    bytes: Bytes
    far: Count
    reach: Bytes
    time: Ns
    recorded: Count
    all_reads: Count


def evidence(workforce: Workforce) -> ir.Table:
    rows = far_reads(workforce.roles, DATA)
    # A reader that skips what it need not read goes forward, as one does of which calls were only
    # summed: of random places half lie behind.
    rows = rows.filter(
        rows.reads >= LEAST,
        rows.bytes < SMALL * rows.reads,
        rows.reach >= LARGE,
        rows.far * 2 >= rows.reads,
        rows.back * 4 >= rows.far,
    )
    found = rows.group_by("layer").agg(
        files=rows.count(),
        target=rows.target.argmax(rows.time),
        **{name: rows[name].sum().cast("int64") for name in ("reads", "bytes", "far", "time")},
        reach=rows.reach.max(),
    )
    found = found.inner_join(_recorded(workforce), "layer")
    return found.filter(found.layer.isin(LAYERS)).order_by(ibis.desc("time"), "layer")


def _recorded(workforce: Workforce) -> ir.Table:
    """Per layer: reads of data, and those that were recorded individually."""

    def reads(rows: ir.Table) -> ir.Table:
        return rows.filter(
            rows["op"].isin(DIRECTIONS["read"]), rows.category.isin(DATA), counted_once(rows)
        )

    sums, calls = reads(workforce.rows(SUMS)), reads(workforce.rows(CALLS))
    summed = sums.group_by("layer").agg(all_reads=sums["count"].sum().cast("int64"))
    return summed.inner_join(calls.group_by("layer").agg(recorded=calls.count()), "layer")


@rule(
    title="A large file is read at random places",
    evidence=Query(evidence, RandomReads),
    why="A disk moves its head for each place, and readahead brings what nobody asks for. In HDFS, "
    "each place is a request of its own to a DataNode.",
    unless="the file is in memory, or nobody can know the next place before this one is read.",
    explains=("small-reads",),
    of_imports=True,
)
def judge(rows: list[RandomReads], facts: RunFacts) -> Judgement | None:
    # a stream of which most calls are in sums only has holes
    known = [row for row in rows if row.recorded * 2 >= row.all_reads]
    if not known:
        return None
    worst = known[0]
    where = shortened(worst.target, 48)
    if worst.files > 1:
        where = f"{plural(worst.files, 'file')}, most time in {where}"
    of_hdfs = [Change("read all ranges at once with readVectored(), or at least with pread")]
    return Judgement(
        share=facts.share(worst.time),
        text=f"{count(worst.far)} of {count(worst.reads)} reads of "
        f"{size(worst.bytes // worst.reads)} on average in layer {worst.layer} went to places far "
        f"from the one before, back and forth, and took {seconds(worst.time)}: {where}",
        evidence=[
            Evidence("reads of these files", worst.reads, "count"),
            Evidence("reads far from the one before of their thread", worst.far, "count"),
            Evidence("time of these reads", worst.time, "ns"),
            Evidence("bytes from the first place to the last", worst.reach, "bytes"),
            Evidence("reads in the layer that were recorded individually", worst.recorded, "count"),
            Evidence("reads in the layer", worst.all_reads, "count"),
        ],
        change=[
            Change("sort the places before reading, and read neighbours with one request"),
            Change("keep what is read often in memory, or lay the file out in the order of reads"),
            *(of_hdfs if worst.layer == "hdfs" else []),
        ],
        gain=(0.3, 0.9),
    )
