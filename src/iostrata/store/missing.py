"""What of a run is not in its readable files, a line each: which part, host or process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iostrata.store.files import Judged
from iostrata.store.runs import Run
from iostrata.text import count, plural

Ask = Callable[[str], list[dict[str, Any]]]


def incomplete(run: Run, judged: Judged, ask: Ask) -> list[str]:
    """Lines on a run and all its files; `ask` answers SQL over its views."""
    bad = bad_files(run, judged)
    return [*run.damage, *_state(run), *bad, *_rows(run, judged), *_hosts(run, judged, ask)]


def bad_files(run: Run, judged: Judged) -> list[str]:
    """Lines on files that cannot be read."""
    root = run.path.resolve()
    return [
        f"{part.path.relative_to(root)} {part.why}; {part.remedy}"
        for parts in judged.bad.values()
        for part in parts
    ]


def _state(run: Run) -> list[str]:
    """Why what is published may not be all."""
    if run.state == "recording":
        return ["still being recorded: only what was published so far is in the numbers"]
    if run.source and run.source.incomplete:
        return [f"imported in part: {run.source.incomplete}"]
    if run.state == "incomplete" and not run.damage:
        return ["its recording was cut off: what was not published by then is in no number"]
    if not run.published:
        return ["its collector ended before it had published all: the rest is in no number"]
    return []


def _rows(run: Run, judged: Judged) -> list[str]:
    """Of a run that its collector concluded, rows are as many as it says."""
    if run.state == "recording" or not run.published:
        return []
    there = judged.rows("events")
    lines = []
    if there < run.events:
        lost = run.events - there
        lines.append(f"{count(lost)} of {plural(run.events, 'event')} are in no readable file")
    known = judged.rows("processes")
    if known < run.processes:
        lines.append(
            f"{count(run.processes - known)} of {plural(run.processes, 'process')} are in no "
            "readable file: how much of them was traced is not known"
        )
    return lines


def _hosts(run: Run, judged: Judged, ask: Ask) -> list[str]:
    """Of what each process counted, how much is there; asked where there is reason to doubt."""
    several = len(judged.good["processes"]) > 1  # each collector counts its own events only
    lost = judged.rows("events") < run.events or judged.rows("processes") < run.processes
    if run.state == "recording" or not judged.good["processes"] or not (several or lost):
        return []
    lines = [
        f"host {row['host']}: {plural(row['processes'], 'process')} made {count(row['made'])} "
        f"calls, {count(row['there'])} of them are in a readable file"
        for row in ask(_LOST)
    ]
    known = {row["host"] for row in ask("SELECT DISTINCT host FROM processes")}
    hosts = {part.path.parent.name.removeprefix("host=") for part in judged.good["events"]}
    return lines + [
        f"host {host}: its processes are in no readable file"
        for host in sorted(hosts - known)
        if None not in known
    ]


# What a process counted and no sum has: `calls` are those of the run, from its sums.
_LOST = """
    WITH counted AS (
        SELECT host, proc, max(calls) AS made FROM processes WHERE calls > 0 GROUP BY host, proc),
    found AS (SELECT proc, sum("count") AS there FROM events WHERE kind = 'sum' GROUP BY proc)
    SELECT host, count(*)::BIGINT AS processes, sum(made)::BIGINT AS made,
        sum(coalesce(there, 0))::BIGINT AS there
    FROM counted LEFT JOIN found USING (proc)
    WHERE coalesce(there, 0) < made GROUP BY host ORDER BY host"""
