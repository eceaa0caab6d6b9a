"""How small traces become: bytes of events, and call trees (S2, section 2.2; S1, section II)."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, BinaryIO, cast

from iostrata.analyse.calltree.native import Choice, call_trees
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.totals import OperationTotal, by_operation
from iostrata.api import TracedRun
from iostrata.store.files import run_files
from iostrata.store.opened import OpenedRun
from iostrata.text import count, percent, size
from iostrata_lab.studies.figure import bars
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
from iostrata_lab.studies.jobs import PARAMETERS, SPARK, jobs
from iostrata_lab.studies.samples import by_label
from iostrata_lab.workload.parameters import Value

FORMATS = ("otlp", "strace")  # spans as JSON, as HTrace keeps them; lines of text
SLOT = 64  # bytes: [slot] of schema/events.toml
_PAPER = 0.9  # of the trees are gone


def _plan(values: Mapping[str, Value]) -> Sequence[Wanted]:
    return jobs(values)


def _measure(opened: OpenedRun) -> Row:
    """Calls, those recorded individually, bytes in each form; spans, nodes and trees.

    `raw` are the slots that the kept calls take in shared memory, `stored` the Parquet files of
    all events: sums, contexts and links, too.
    """
    texts = {}
    for name in FORMATS:
        sink = _Counted()
        kept = TracedRun(opened).export(name, cast(BinaryIO, sink))
        texts[name] = sink.taken
    done = DuckDb(opened).records(by_operation, OperationTotal)
    return {
        "calls": sum(each.calls for each in done),
        "kept": kept,
        "events": opened.run.events,
        "raw": kept * SLOT,
        "stored": sum(path.stat().st_size for path in run_files(opened.run)["events"]),
        **texts,
        **_trees(opened),
    }


def _trees(opened: OpenedRun) -> Row:
    """Trees as they were and merged, nodes by order; without what only sums know."""
    found: Row = {}
    for order in ("sets", "runs"):
        nodes = [node for node in call_trees(opened, Choice(order)).nodes if node.spans]
        roots = [node for node in nodes if node.parent is None]
        found |= {
            "spans": sum(node.spans for node in nodes),
            "trees": sum(node.spans for node in roots),
            f"{order}_trees": len(roots),
            f"{order}_nodes": len(nodes),
        }
    return found


class _Counted(io.RawIOBase):
    """Takes bytes and only counts them."""

    taken = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.taken += len(data)
        return len(data)


def _conclude(samples: Sequence[StudyRun]) -> Outcome:
    groups = by_label(samples)
    events = Table(
        "Bytes per call that is recorded individually; medians over repeats",
        ["workload", "calls", "kept", "JSON spans", "text", "slots", "Parquet", "Parquet in all"],
        [_event_cells(label, of) for label, of in groups.items()],
    )
    trees = Table(
        "Call trees before and after merging",
        ["workload", "spans", "nodes, sets", "nodes, runs", "trees", "after", "fewer"],
        [_tree_cells(label, of) for label, of in groups.items()],
    )
    shown = [
        (label, [(name, _each(of, key)) for key, name in _FORMS.items()])
        for label, of in groups.items()
    ]
    figure = bars("Bytes per call, by the form it is kept in", "B", shown)
    return Outcome([events, trees], _claims(groups), figure)


_FORMS = {"otlp": "JSON spans", "strace": "text", "raw": "slots", "stored": "Parquet"}


def _each(of: Sequence[StudyRun], key: str) -> float:
    return float(median(one.measured[key] / max(1, one.measured["kept"]) for one in of))


def _of(of: Sequence[StudyRun], key: str) -> int:
    return int(median(one.measured[key] for one in of))


def _fewer(of: Sequence[StudyRun]) -> float:
    trees = (one.measured for one in of)
    return float(median(1 - one["sets_trees"] / max(1, one["trees"]) for one in trees))


def _event_cells(label: str, of: Sequence[StudyRun]) -> list[str]:
    each = [f"{_each(of, key):.1f}" for key in _FORMS]
    return [label, count(_of(of, "calls")), count(_of(of, "kept")), *each, size(_of(of, "stored"))]


def _tree_cells(label: str, of: Sequence[StudyRun]) -> list[str]:
    keys = ("spans", "sets_nodes", "runs_nodes", "trees", "sets_trees")
    fewer = percent(_fewer(of), 1)
    return [label, *(count(_of(of, key)) for key in keys), fewer]


def _claims(groups: Mapping[str, Sequence[StudyRun]]) -> list[Claim]:
    fewer = {label: _fewer(of) for label, of in groups.items()}
    least = min(fewer, key=lambda label: fewer[label])
    smaller = [_each(of, "otlp") / _each(of, "stored") for of in groups.values()]
    return [
        Claim(
            "the number of call trees becomes smaller by more than 90 %",
            ClaimVerdict.agrees if fewer[least] > _PAPER else ClaimVerdict.differs,
            f"by {percent(fewer[least], 1)} or more ({least} least), with exact totals",
        ),
        _spark(groups),
        Claim(
            "traces are compressed while they are recorded (S1, without figures)",
            ClaimVerdict.agrees,
            f"Parquet is {min(smaller):.0f} to {max(smaller):.0f} times smaller than JSON spans of "
            "the same calls, with the sums of all calls in it",
        ),
    ]


def _spark(groups: Mapping[str, Sequence[StudyRun]]) -> Claim:
    says = "several minutes of Spark make a trace of more than 1 GB"
    here = [of for label, of in groups.items() if label in SPARK]
    if not here:
        return Claim(says, ClaimVerdict.unknown, "no job on Spark was asked for")

    def most(form: str) -> str:
        """In a minute, of any job."""
        rates = [median(one.measured[form] / one.seconds for one in of) for of in here]
        return size(round(60 * max(rates)))

    why = f"as JSON spans up to {most('otlp')} a minute, as stored up to {most('stored')}"
    return Claim(says, ClaimVerdict.unknown, f"{why}; jobs of seconds, on one executor")


COMPRESSION = Study(
    name="compression",
    about="bytes of events and numbers of call trees, before and after",
    source="S2: Liu et al., NPC 2018, section 2.2; S1: IOSIG+, section II.A",
    differences=(
        "the raw trace is what our exports write of the same calls: JSON spans of "
        "OpenTelemetry (HTrace, which the paper extends, is gone) and lines like those of "
        "strace",
        "trees are merged after recording, not while it goes on",
        "the trace has all layers down to Java files and sockets, not HDFS alone",
    ),
    parameters=PARAMETERS,
    plan=_plan,
    measure=_measure,
    conclude=_conclude,
)
