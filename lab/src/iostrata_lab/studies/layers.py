"""Two layers of RandomTextWriter over the same seconds (S1, Fig. 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import StatisticsError, correlation

from ibis.expr import types as ir

from iostrata.analyse.axis import axis_of
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.over_time import LayerBin, over_time
from iostrata.analyse.tables import SUMS
from iostrata.store.opened import OpenedRun
from iostrata.text import count, size
from iostrata_lab.studies.figure import Panel, panels
from iostrata_lab.studies.interface import (
    Claim,
    ClaimVerdict,
    Outcome,
    Row,
    Study,
    StudyRun,
    Table,
    Wanted,
)
from iostrata_lab.workload.parameters import BYTES, Parameter, Value

# What the paper's KVTracer and StreamTracer see, and what carries the bytes of the first: records
# are counted only.
UPPER, STREAM, LOWER = "records", "file system", "DataNode files"
_SECOND = 10**9
_VARIES = 2.0  # times as many
_AROUND = 2.0  # s before and after, that the figure shows, too


def _plan(values: Mapping[str, Value]) -> Sequence[Wanted]:
    given = (f"size={values['size']}", f"maps={values['maps']}")
    return [Wanted("randomtextwriter", "randomtextwriter", given)]


def _rows() -> dict[str, ir.Table]:
    """The sums of each layer: writes of tasks, and what DataNodes write into files of blocks."""
    task, hdfs = SUMS.role == "map", SUMS.category == "hdfs"
    writes = SUMS["op"] == "write"
    return {
        UPPER: SUMS.filter(task, SUMS.layer == "record", writes),
        STREAM: SUMS.filter(task, SUMS.layer == "fs", hdfs, writes),
        LOWER: SUMS.filter(
            SUMS.role == "DataNode",
            SUMS.layer == "java",
            SUMS.category.isin(["blk", "blk_meta"]),
            writes,
        ),
    }


def _measure(opened: OpenedRun) -> Row:
    """`bin` in s, and of each layer calls and bytes per bin, from the begin of the run."""
    axis = axis_of(opened)
    found: Row = {"bin": axis.bin / _SECOND}
    for name, rows in _rows().items():
        calls, moved = [0] * axis.bins, [0] * axis.bins
        bins = over_time(axis.start, axis.bin, sums=rows)
        for each in DuckDb(opened).records(bins, LayerBin):
            calls[each.bin], moved[each.bin] = each.calls, each.written
        found[name] = {"calls": calls, "bytes": moved}
    return found


def _conclude(samples: Sequence[StudyRun]) -> Outcome:
    rows = [cells for sample in samples for cells in _cells(sample)]
    columns = ["repeat", "layer", "calls", "bytes", "bytes a call", "most calls/s", "most bytes/s"]
    table = Table("The two layers, and the stream between them", columns, rows, names=2)
    return Outcome([table], _claims(samples), _figure(samples[0]))


def _cells(sample: StudyRun) -> list[list[str]]:
    width = sample.measured["bin"]
    found = []
    for name in (UPPER, STREAM, LOWER):
        calls, moved = sample.measured[name]["calls"], sample.measured[name]["bytes"]
        each = size(round(sum(moved) / max(1, sum(calls)))) if sum(moved) else "not counted"
        total = size(sum(moved)) if sum(moved) else "not counted"
        fastest = size(round(max(moved) / width)) if sum(moved) else "not counted"
        most = count(round(max(calls) / width))
        found.append([str(sample.repeat), name, count(sum(calls)), total, each, most, fastest])
    return found


def _figure(sample: StudyRun) -> str:
    """Calls and bytes a second of the first repeat, while records are written."""
    width, measured = sample.measured["bin"], sample.measured
    busy = [at for at, calls in enumerate(measured[UPPER]["calls"]) if calls > 0]
    around = round(_AROUND / width)
    first, last = max(0, min(busy, default=0) - around), max(busy, default=0) + around + 1

    def line(name: str, what: str) -> list[tuple[float, float]]:
        part = 1e6 if what == "bytes" else 1.0
        values = measured[name][what]
        return [
            (at * width, values[at] / width / part) for at in range(first, min(last, len(values)))
        ]

    titles = [(UPPER, "calls"), (STREAM, "bytes"), (LOWER, "calls"), (LOWER, "bytes")]
    units = {"calls": "requests/s", "bytes": "MB/s"}
    return panels(
        "RandomTextWriter: MapReduce and DataNode over the same seconds",
        [
            Panel(f"{name}, {units[what]}", "s", {name: line(name, what)}, filled=True)
            for name, what in titles
        ],
    )


def _alike(upper: Sequence[int], lower: Sequence[int]) -> float:
    """The correlation over the bins in which either did anything; 0 where one never changes."""
    busy = [pair for pair in zip(upper, lower, strict=True) if any(pair)]
    try:
        return correlation(*zip(*busy, strict=True))
    except (StatisticsError, TypeError):
        return 0.0


def _claims(samples: Sequence[StudyRun]) -> list[Claim]:
    ratios, likeness = [], []
    for sample in samples:
        upper, lower = sample.measured[UPPER]["calls"], sample.measured[LOWER]["calls"]
        ratios.append(sum(upper) / max(1, sum(lower)))
        likeness.append(_alike(upper, lower))
    times = ", ".join(f"{ratio:.1f}" for ratio in ratios)
    alike = ", ".join(f"{one:.2f}" for one in likeness)
    width = samples[0].measured["bin"]
    return [
        Claim(
            "MapReduce makes more requests than the layer below, the DataNode",
            ClaimVerdict.agrees if min(ratios) > 1 else ClaimVerdict.differs,
            f"records written over writes of DataNodes into blocks: {times} times",
        ),
        Claim(
            "the pattern of requests varies between the layers",
            ClaimVerdict.agrees if min(ratios) > _VARIES else ClaimVerdict.differs,
            f"many small requests become few large ones; correlation of both over time, per "
            f"bin of {width:g} s in which there are any: {alike}",
        ),
        Claim(
            "I/O comes in periodic waves",
            ClaimVerdict.unknown,
            "the paper gives no period and no scale; sums are a second apart, so what is "
            f"shorter than 2 s cannot be seen, and bins of {width:g} s are all there is",
        ),
    ]


LAYERS = Study(
    name="layers",
    about="two layers of RandomTextWriter over time",
    source="S1: Feng et al., IOSIG+, CLUSTER 2015, section III.D, Fig. 4",
    differences=(
        "each record is counted, but not its bytes; the bytes of the upper layer are those "
        "that tasks write to HDFS, with the format of the file",
        "the study shows the whole run, not a window of it",
        "the DataNodes run on one machine, not on sixteen",
    ),
    parameters=(
        Parameter(
            "size", "size of the text", 1 << 30, BYTES, low=1 << 10, high=1 << 50, scaled=True
        ),
        Parameter("maps", "maps that write it", 2, "tasks", low=1, high=10_000),
    ),
    plan=_plan,
    measure=_measure,
    conclude=_conclude,
)
