"""The account of each job, from the files of the parts toggle, starts, and jobs or ab or both."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.measure.pairs import complete
from bench.measure.results import Results, read
from bench.measure.stats import Interval, verdict
from bench.measure.workloads import Job
from bench.overhead.additive import Costs, account, call_costs
from bench.overhead.clusters import SIDES
from bench.overhead.modes import Mode

Row = dict[str, Any]
ENDS = ("low", "estimate", "high")


def conclude(folder: Path, modes: Sequence[Mode]) -> Results:
    """Writes overhead-account.json; ends the program if a part is missing."""
    names = ("toggle", "starts", "jobs", "ab")
    parts = {name: read(folder / f"overhead-{name}.json") for name in names}
    clusters = [part["runs"] for name in ("jobs", "ab") if (part := parts[name])]
    missing = [name for name in names[:2] if parts[name] is None] + ["jobs"] * (not clusters)
    if missing:
        sys.exit(f"{folder} has no part {', '.join(missing)}, which the account is made of")
    results = Results(folder, "overhead-account", {})
    toggled, starts = (parts[name] or {} for name in ("toggle", "starts"))
    found = []
    for mode in modes:
        subjects = [row for row in toggled["found"] if row["mode"] == mode.name]
        costs = {end: costs_at(end, subjects, starts["found"]) for end in ENDS}
        of_mode = [[run for run in runs if run["mode"] == mode.name] for runs in clusters]
        jobs = {(run["job"], run["megabytes"]) for runs in of_mode for run in runs}
        for name, size in sorted(jobs):
            job = Job(name, size, "")
            both = [pair for runs in of_mode for pair in complete(runs, job, SIDES)]
            if both:
                found.append(of_job(both, mode, costs, subjects))
    results.conclude(found)
    return results


def costs_at(end: str, subjects: Sequence[Row], starts: Row) -> Costs:
    """The costs at one end of their intervals, all together: the worst or the best case."""
    calls, notes = call_costs(subjects, end)
    if not calls:
        sys.exit(f"no account: {notes[0]}; measure the part toggle in the same modes")
    return Costs(
        call_ns=calls,
        start_s=max(0.0, starts["start_s"][end]),
        recorder_s=starts["recorder_s"][end],
        notes=tuple(notes),
    )


def of_job(
    both: Sequence[tuple[Row, Row]], mode: Mode, costs: dict[str, Costs], subjects: Sequence[Row]
) -> Row:
    """The account with costs estimated, its ends, and a verdict against the mode's bar."""
    untraced = median(plain["cpu_s"] for _, plain in both)
    # The run with the median collector stands for all: counts hardly differ.
    traced = sorted((one for one, _ in both), key=lambda run: run["collector_cpu_s"])
    chosen = traced[len(traced) // 2]
    shares = {end: account(chosen, untraced, costs[end])["share"] for end in ENDS}
    pairs = min(subject["added"]["n"] for subject in subjects)
    interval = Interval(
        estimate=shares["estimate"],
        low=shares["low"],
        high=shares["high"],
        n=pairs,
        detectable=shares["high"] - shares["estimate"],
    )
    problems = mode.problems + sorted({p for run in traced for p in run["trace"]["problems"]})
    return {
        **account(chosen, untraced, costs["estimate"]),
        "mode": mode.name,
        "call_ns": costs["estimate"].call_ns,
        "start_s": costs["estimate"].start_s,
        "notes": list(costs["estimate"].notes),
        "share_low": shares["low"],
        "share_high": shares["high"],
        "verdict": vars(verdict(interval, mode.bar, problems)),
    }
