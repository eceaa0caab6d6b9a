"""Local files that one process reads several times."""

from __future__ import annotations

from collections.abc import Sequence

import ibis
from ibis.expr import types as ir

from iostrata.analyse.rereading import rereading
from iostrata.analyse.targets import ReadToEnd, read_to_end
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import BLOCK_CACHE, DATA
from iostrata.records import Bytes
from iostrata.text import count, plural, seconds, shortened, size

LEAST = 16 << 20  # bytes read again
LAYERS = ("java", "posix")
OFTEN = 4  # times that the end was met
FAR = 64 << 10  # bytes from one end to the next: who follows a log meets its end after a few lines
# A reader may ask once more after it has met the end.
ASKED_AT_END = 2
MOST = 1000  # files


class FileRead(ReadToEnd, frozen=True):
    """Of its reads that were recorded individually with their place: `known` bytes, `again` of
    which had been read before.
    """

    known: Bytes
    again: Bytes

    @property
    def ends_apart(self) -> Bytes:
        """How much was read from one end of the file to the next, on average."""
        return self.bytes // self.ends if self.ends else 0

    @property
    def by_ends(self) -> float:
        """The part that was read again, at least, where each read to the end was of the same bytes.
        What the process itself wrote meanwhile may have been new.
        """
        passes = self.ends // ASKED_AT_END
        if self.ends < OFTEN or self.ends_apart < FAR or self.written * 2 > self.bytes:
            return 0.0
        return 1 - 1 / passes

    @property
    def by_places(self) -> float:
        """Likewise, by places: of two reads of a place, both must have been recorded."""
        return self.again / self.known if self.known else 0.0

    @property
    def part(self) -> float:
        """The part that was read again, at least."""
        return max(self.by_ends, self.by_places)

    @property
    def cost(self) -> int:
        """ns"""
        return int(self.time * self.part)


def evidence(workforce: Workforce) -> ir.Table:
    rows = read_to_end(DATA, workforce.roles)
    rows = rows.filter(rows.layer.isin(LAYERS), rows.bytes >= LEAST)
    places = rereading("proc").rename(known="bytes")
    places = places.select("proc", "layer", "target", "block", "known", "again")
    found = rows.left_join(places, ["proc", "layer", "target", "block"])
    found = found.select(
        *ReadToEnd.__struct_fields__,
        known=found.known.fill_null(0),
        again=found.again.fill_null(0),
    )
    order = [ibis.desc("time"), "proc", "layer", "target", "block"]
    return found.order_by(*order).limit(MOST)


@rule(
    title="The same file is read several times",
    evidence=Query(evidence, FileRead),
    why="Each pass pays again for its calls and for what is computed from it; and for the disk, "
    "where the file does not fit into the memory that is left for the file cache.",
    unless="other programs add to the file meanwhile (a log that is followed), or the data does "
    "not fit into memory and each pass needs all of it.",
    explains=("disk-bound",),
    of_imports=True,
)
def judge(rows: list[FileRead], facts: RunFacts) -> Judgement | None:
    again = [row for row in rows if row.part * row.bytes >= LEAST and row.part * 3 >= 1]
    layers = [[row for row in again if row.layer == layer] for layer in LAYERS]
    files = max(layers, key=_cost)
    if not files:
        return None
    worst = max(files, key=lambda row: row.cost)
    others = f"; so were {plural(len(files) - 1, 'other file')}" if len(files) > 1 else ""
    return Judgement(
        share=facts.share(_cost(files)),
        text=f"{_seen(worst)}; reading again took {seconds(_cost(files))} at least{others}",
        evidence=_evidence(worst, files),
        change=[
            *([BLOCK_CACHE] if facts.kind == "hbase" else []),
            Change("read the file once for everything that is computed from it"),
            Change("keep what is read again in memory, decoded; or map the file"),
        ],
        gain=(0.6, 1.0),
    )


def _cost(rows: Sequence[FileRead]) -> int:
    return sum(row.cost for row in rows)


def _seen(row: FileRead) -> str:
    what = f"{size(row.bytes)} were read from {shortened(row.target, 48)}"
    if row.by_ends >= row.by_places:
        return (
            f"{what}, whose end was met {count(row.ends)} times, after {size(row.ends_apart)} on "
            "average"
        )
    return (
        f"{what}; of {size(row.known)} that were recorded individually, {size(row.again)} had been "
        "read before"
    )


def _evidence(worst: FileRead, files: Sequence[FileRead]) -> list[Evidence]:
    return [
        Evidence("file", worst.target, "text"),
        Evidence("bytes that one process read from it", worst.bytes, "bytes"),
        Evidence("reads of it", worst.calls, "count"),
        Evidence("of them reads that found no more bytes", worst.ends, "count"),
        Evidence("bytes recorded individually, with their place", worst.known, "bytes"),
        Evidence("of them bytes of places that had been read before", worst.again, "bytes"),
        Evidence("time of all reads of it", worst.time, "ns"),
        Evidence("files that were read again", len(files), "count"),
    ]
