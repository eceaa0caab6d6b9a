"""How complete a run is, as lines of text: of an analysis, and of what a recorder knows already.

A recorder says the first line when its command has ended: nothing is imported that takes long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from iostrata.store.coverage import Listed, Seen
from iostrata.text import count, plural, printable

HDFS_LAYERS = ("hdfs", "namenode", "datanode")
MOST_ATTEMPTS = 50
MOST_INCOMPLETE = 50


class _Node(Listed, Protocol):
    """A DataNode that the NameNode lists; `traced`: a traced process is it."""

    @property
    def traced(self) -> bool: ...


class Covered(Protocol):
    """A coverage: see store.coverage.ComparedCoverage."""

    @property
    def total(self) -> int: ...
    @property
    def traced(self) -> int: ...
    @property
    def not_traced(self) -> Sequence[Seen]: ...
    @property
    def processes(self) -> Sequence[Seen]: ...
    @property
    def datanodes(self) -> Sequence[_Node] | None: ...
    @property
    def attempts(self) -> Sequence[str] | None: ...
    @property
    def missing_attempts(self) -> Sequence[str]: ...
    @property
    def unasked(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class Picture:
    """What there is to say about the completeness of a run.

    `layers` are those with calls. `of_jobs`: some calls are of jobs, of which nobody but a cluster
    knows all attempts. Losses and the rest as in analyse.completeness.Completeness, `troubles` of
    points and `orphans` as lines. `by_tfs`: processes that tfs:// alone traces.
    """

    processes: Covered
    layers: Collection[str]
    of_jobs: bool
    dropped: int
    collapsed: int
    lost: int
    rejected: int
    faulted_points: Sequence[str] = ()
    unfinished: int = 0
    incomplete: Sequence[str] = ()
    troubles: Sequence[str] = ()
    orphans: Sequence[str] = ()
    by_tfs: int = 0


def completeness_lines(picture: Picture) -> list[str]:
    """How complete the picture is.

    `traced 12/14 processes, 3/3 DataNodes, 0 dropped`, then each that is missing by name.
    """
    lines = [_traced(picture), *_rejected(picture), *_incomplete(picture), *_missing(picture)]
    if picture.faulted_points:
        lines.append(f"points switched off by a fault: {', '.join(picture.faulted_points)}")
    if picture.by_tfs:
        seen = "file system calls are seen, and nothing below them"
        lines.append(f"{plural(picture.by_tfs, 'process')} traced by tfs:// alone: {seen}")
    lines += picture.troubles
    if picture.unfinished:
        lines.append(f"{plural(picture.unfinished, 'call')} still open when the process died")
    lines += picture.orphans
    return [printable(line) for line in lines]


def _traced(picture: Picture) -> str:
    covered = picture.processes
    line = f"traced {covered.traced}/{covered.total} processes"
    if covered.datanodes is not None:
        traced = sum(node.traced for node in covered.datanodes)
        line += f", {traced}/{len(covered.datanodes)} DataNodes"
    elif any(layer in HDFS_LAYERS for layer in picture.layers):
        line += ", DataNodes not asked"
    line += f", {count(picture.dropped)} dropped"
    line += " (in totals, not recorded individually)" if picture.dropped else ""
    losses = (
        (picture.collapsed, "without task and category"),
        (picture.lost, "lost (in no total)"),
        (picture.rejected, "segments or names rejected"),
    )
    return line + "".join(f", {count(number)} {what}" for number, what in losses if number)


def _rejected(picture: Picture) -> list[str]:
    """Why files of traced processes could not be made, the most common reason first."""
    covered = picture.processes
    reasons = Counter(process.reason for process in covered.processes if process.traced)
    del reasons[""]
    return [
        f"rejected in {plural(number, 'process')}: {reason}"
        for reason, number in reasons.most_common()
    ]


def _incomplete(picture: Picture) -> list[str]:
    lines = [f"incomplete: {line}" for line in picture.incomplete[:MOST_INCOMPLETE]]
    more = len(picture.incomplete) - len(lines)
    return lines + ([f"and {count(more)} more that are incomplete (--json lists all)"] * bool(more))


def _missing(picture: Picture) -> list[str]:
    covered = picture.processes
    missing = [node for node in covered.datanodes or () if not node.traced]
    listed = {(node.host, node.pid): node.name for node in missing}
    lines = []
    for process in covered.not_traced:
        name = process.task or listed.pop((process.host or "", process.pid), "")
        who = f"{process.role or 'java'} pid {process.pid}{name and f', {name}'}"
        lines.append(f"not traced: {who} ({process.reason})")
    why = "the NameNode lists it, no traced process is it"
    lines += [f"not traced: DataNode {name} ({why})" for name in sorted(listed.values())]
    why = "the job history has it, no process reported it"
    attempts = covered.missing_attempts
    lines += [f"not traced: {attempt} ({why})" for attempt in attempts[:MOST_ATTEMPTS]]
    if len(attempts) > MOST_ATTEMPTS:
        lines.append(f"and {count(len(attempts) - MOST_ATTEMPTS)} more attempts (--json lists all)")
    lines += [f"did not answer: {whom}" for whom in covered.unasked]
    if covered.attempts is None and picture.of_jobs:
        lines.append("job history not asked: attempts on hosts without a collector are not known")
    return lines


def why_empty(picture: Picture, state: str, events: int) -> str:
    """Why there are no layers to show; `state` and `events` are those of the run."""
    if events and picture.incomplete:
        return "no events: those that were recorded are in no readable file"
    if state == "recording":
        return "no events so far: the run is being recorded"
    if not picture.processes.processes:
        return "no events: no Java process was seen, nor another one by --native"
    if not picture.processes.traced:
        return "no events: none of its processes was traced (iostrata doctor says why)"
    if picture.lost:
        return "no events: there was no room for what its processes called"
    return "no events: its processes called none of the points (iostrata points lists them)"
