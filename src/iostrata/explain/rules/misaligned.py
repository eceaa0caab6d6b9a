"""Requests that begin off the boundaries of the file system, by what other tools counted."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import SUMS, counted_once
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import DATA, totals
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.schema.directions import DIRECTIONS
from iostrata.store.facts import CountedFile
from iostrata.text import count, seconds, shortened, size

LEAST = 100  # requests off a boundary
OFTEN = 0.1  # of all requests


class FileRequests(Record, frozen=True):
    """Reads and writes of a file in the layer `posix`."""

    target: str
    calls: Count
    bytes: Bytes
    time: Ns


def evidence(workforce: Workforce) -> ir.Table:
    rows = workforce.rows(SUMS)
    rows = rows.filter(
        rows.layer == "posix",
        rows["op"].isin((*DIRECTIONS["read"], *DIRECTIONS["written"])),
        rows.category.isin(DATA),
        counted_once(rows),
        rows.target.notnull(),
    )
    rows = rows.mutate(calls=rows["count"], time=rows.timed_dur)
    return rows.group_by("target").agg(**totals(rows, "calls", "bytes", "time")).order_by("target")


@rule(
    title="Requests begin off the boundaries of the file system",
    evidence=Query(evidence, FileRequests),
    why="A block or stripe of which only a part is written is read first, or its lock is taken "
    "from another writer, at each end of the request.",
    unless="the file system collects writes before they reach its servers.",
    most="warning",
    of_imports=True,
)
def judge(rows: list[FileRequests], facts: RunFacts) -> Judgement | None:
    counted = facts.counted
    known = [(row, counted[row.target]) for row in rows if row.target in counted]
    costs = [(_cost(row, file), row, file) for row, file in known]
    cost, row, file = max(costs, key=lambda each: each[0], default=(0, None, None))
    if not cost or row is None or file is None:
        return None
    off = _off(file)
    return Judgement(
        share=facts.share(cost),
        text=f"{count(off)} of {count(file.requests)} requests on {shortened(row.target, 48)} did "
        f"not begin at a multiple of {size(file.alignment)}, nor where the one before ended; the "
        f"parts of blocks at their ends took up to {seconds(cost)}",
        evidence=[
            Evidence("requests", file.requests, "count"),
            Evidence("requests off a boundary", file.unaligned, "count"),
            Evidence("requests that begin where the one before ended", file.consecutive, "count"),
            Evidence("boundary of the file system", file.alignment, "bytes"),
            Evidence("time of the requests", row.time, "ns"),
        ],
        change=[
            Change("begin requests at a boundary: pad headers, or set the alignment of the library")
        ],
        gain=(0.1, 0.7),
    )


def _off(file: CountedFile) -> int:
    """Requests off a boundary. Those that follow another reach the file system in one piece."""
    return max(0, file.unaligned - file.consecutive)


def _cost(row: FileRequests, file: CountedFile) -> int:
    """ns: of the time of such requests the part that the blocks at both their ends are."""
    off = _off(file)
    if off < LEAST or off < OFTEN * file.requests or not row.calls:
        return 0
    ends = min(1.0, 2 * file.alignment * row.calls / max(1, row.bytes))
    return int(row.time * off / file.requests * ends)
