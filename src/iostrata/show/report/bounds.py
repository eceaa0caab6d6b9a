"""What a document may hold at most: whatever the trace, the page stays a file that one can mail.

Every list has its most rows. Where names are so long or so strange that the document is still too
large, names are cut further, then lists are halved; what is left out is counted.
"""

from __future__ import annotations

import heapq
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from iostrata.analyse.calltree.trees import cut
from iostrata.explain.finding import Finding
from iostrata.records import builtins
from iostrata.show.report.model import (
    Bounded,
    Critical,
    Programs,
    ReportCompleteness,
    ReportDocument,
    Task,
    Usage,
)
from iostrata.show.report.page import encoded

MOST_BYTES = 2_500_000  # of a document as the page holds it
# Rows of a list at most; the first are kept, of the critical path the longest.
MOST_TARGETS = 400
MOST_TASKS = 600
MOST_ROWS = 400  # categories, time spent, operations, sizes
MOST_PROCESSES = 200  # and lines on what is missing
MOST_HOSTS = 24
MOST_STREAMS = 24
MOST_RANKS = 256
MOST_PROGRAMS = 16
MOST_JOBS = 16  # of which a curve is drawn
MOST_ATTEMPTS = 32  # likewise
MOST_FINDINGS = 40
MOST_EVIDENCE = 20  # and changes, each finding
MOST_PARTS = 2000  # of the critical path
MOST_FUNCTIONS = 200
MOST_PHASES = 12  # each task
MOST_NODES = 1000  # of the call tree, and for each one that stands for those left out
MOST_DEPTH = 48
_NAME = 300  # characters
# Prose is longer than names.
_LONGER = {"command": 7, "why": 4, "seen": 4, "unless": 4, "detail": 4, "text": 4, "message": 4}
_QUERY = 100  # times a name
# Done in order until the document fits: characters of a name, what the most rows are divided by.
_STEPS = ((_NAME, 1), (120, 1), (60, 1), (60, 2), (30, 4), (30, 8), (20, 32))

_T = TypeVar("_T")


def fitted(document: ReportDocument, most: int = MOST_BYTES) -> ReportDocument:
    """The document within its bounds and, as the page holds it, within `most` bytes."""
    made = document
    for characters, divisor in _STEPS:
        made = _listed(made, divisor)
        made = msgspec.convert(_named(builtins(made), "", characters), ReportDocument)
        if len(encoded(made)) <= most:
            break
    return made


def shortened(text: str, most: int = _NAME) -> str:
    """The text without its middle: a path may have 8,000 characters."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-(most // 2) :]}"


def _named(value: Any, key: str, most: int) -> Any:
    """The values of JSON with every name in them cut."""
    if key == "query":  # SQL without its middle is none
        return value if len(value) <= _QUERY * most else ""
    if isinstance(value, str):
        return shortened(value, most * _LONGER.get(key, 1))
    if isinstance(value, list):
        return [_named(item, key, most) for item in value]
    if isinstance(value, dict):
        return {name: _named(item, name, most) for name, item in value.items()}
    return value


def _listed(document: ReportDocument, divisor: int) -> ReportDocument:
    """The document with every list cut to its most rows over `divisor`."""
    hosts = document.system.hosts
    kept_hosts = hosts[: MOST_HOSTS // divisor + 1]
    more_hosts = document.system.more + len(hosts) - len(kept_hosts)
    findings, tree, critical = document.findings, document.tree, document.critical
    rows = MOST_ROWS // divisor
    return replace(
        document,
        targets=_first(document.targets, MOST_TARGETS // divisor),
        tasks=_tasks(document.tasks, divisor),
        categories=_first(document.categories, rows),
        time_spent=_first(document.time_spent, rows),
        system=replace(document.system, hosts=kept_hosts, more=more_hosts),
        ops=document.ops[:rows],
        sizes=document.sizes[:rows],
        merged=document.merged[:rows],
        streams=_first(document.streams, MOST_STREAMS // divisor),
        ranks=_first(document.ranks, MOST_RANKS // divisor),
        programs=document.programs and _programs(document.programs, divisor),
        usage=document.usage and _usage(document.usage, divisor),
        completeness=_completeness(document.completeness, MOST_PROCESSES // divisor),
        findings=findings and [_finding(row, divisor) for row in findings[:MOST_FINDINGS]],
        tree=tree and cut(tree, MOST_NODES // divisor, MOST_DEPTH),
        critical=critical and _critical(critical, divisor),
    )


def _first(bounded: Bounded[_T], most: int) -> Bounded[_T]:
    return Bounded(bounded.rows[:most], bounded.more + max(0, len(bounded.rows) - most))


def _usage(usage: Usage, divisor: int) -> Usage:
    most = MOST_JOBS // divisor + 1
    return replace(
        usage,
        jobs=_first(usage.jobs, most),
        attempts=_first(usage.attempts, MOST_ATTEMPTS // divisor),
        space=_first(usage.space, most),
    )


def _programs(programs: Programs, divisor: int) -> Programs:
    parts = _first(programs.parts, MOST_PROGRAMS // divisor + 1)
    return Programs(parts, _first(programs.servers, MOST_HOSTS // divisor + 1))


def _tasks(bounded: Bounded[Task], divisor: int) -> Bounded[Task]:
    first = _first(bounded, MOST_TASKS // divisor)
    most = MOST_PHASES // divisor + 1
    rows = [replace(row, phases=row.phases[:most]) for row in first.rows]
    return Bounded(rows, first.more)


def _completeness(known: ReportCompleteness, most: int) -> ReportCompleteness:
    left = max(0, len(known.lines) - most)
    return replace(
        known,
        lines=known.lines[:most],
        more_lines=known.more_lines + left,
        incomplete=known.incomplete[:most],
        faulted_points=known.faulted_points[:most],
        processes=_first(known.processes, most),
    )


def _finding(row: Finding, divisor: int) -> Finding:
    most = MOST_EVIDENCE // divisor + 1
    return replace(row, evidence=row.evidence[:most], change=row.change[:most])


def _critical(path: Critical, divisor: int) -> Critical:
    """Its longest parts, in order of time."""
    longest = heapq.nlargest(MOST_PARTS // divisor, path.parts, key=lambda p: p.end - p.start)
    return Critical(
        path.wall,
        sorted(longest, key=lambda part: part.start),
        path.by_function[: MOST_FUNCTIONS // divisor],
        path.more + len(path.parts) - len(longest),
        path.by_stage[: MOST_FUNCTIONS // divisor],
    )
