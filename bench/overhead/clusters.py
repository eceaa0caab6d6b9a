"""Jobs on a traced and an untraced cluster: A/B, by size, and by the number of DataNodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

from bench.measure import pairs, stats, workloads
from bench.measure.cluster import PLAIN, Observer, Side
from bench.measure.results import Results
from bench.measure.workloads import Job
from bench.overhead.modes import Mode

Row = dict[str, Any]
TRACED = Observer("traced", traced=True)
SIDES = (TRACED.name, PLAIN.name)
KINDS: dict[str, Callable[[int], Job]] = {
    "dfsio-write": partial(workloads.dfsio, "write"),
    "dfsio-read": partial(workloads.dfsio, "read"),
    "terasort": workloads.terasort,
    "wordcount": workloads.wordcount,
}
FLAT = 0.01  # of CPU for each doubling of the DataNodes
UNEXPLAINED = "in no group"
ONE_REPLICA = {"dfs.replication": "1"}  # else more DataNodes have more to write


def measure(
    results: Results, work: Path, jobs: list[Job], modes: Sequence[Mode], count: int, **lab: Any
) -> None:
    """Interleaved pairs of each job in each mode; `lab`: datanodes, properties."""
    datanodes = lab.get("datanodes", 2)
    done = [len(of(results.runs, job, mode, datanodes)) >= count for job in jobs for mode in modes]
    if all(done):
        return
    bench = results.path.stem.removeprefix("overhead-")
    with ExitStack() as stack:
        traced, plain = (
            stack.enter_context(
                Side(
                    replace(observer, properties=lab.get("properties", {})), work, bench, datanodes
                )
            )
            for observer in (TRACED, PLAIN)
        )
        for mode in modes:
            traced.observer = replace(traced.observer, record=mode.present)
            pairs.measure(results, (traced, plain), jobs, count, mode=mode.name)


def of(runs: list[Row], job: Job, mode: Mode, datanodes: int = 2) -> list[tuple[Row, Row]]:
    chosen = [r for r in runs if r["mode"] == mode.name and r["datanodes"] == datanodes]
    return pairs.complete(chosen, job, SIDES)


def problems(both: list[tuple[Row, Row]], mode: Mode) -> list[str]:
    found = {problem for traced, _ in both for problem in traced["trace"]["problems"]}
    return mode.problems + sorted(found)


def compared(both: list[tuple[Row, Row]], job: Job, mode: Mode) -> Row:
    """A/B of one job and mode: share of CPU added, and the verdict."""
    added = stats.ratio([(a["cpu_s"], b["cpu_s"]) for a, b in both])
    plain = [b["cpu_s"] for _, b in both]
    return {
        "job": job.name,
        "megabytes": round(job.megabytes, 3),
        "mode": mode.name,
        "bar": mode.bar,
        "plain_cpu_s": median(plain) if plain else None,
        "added": added.facts(),
        "job_wall": wall(both, "job_s"),
        "command_wall": wall(both, "wall_s"),
        "by_threads": by_threads(both),
        "added_bootstrap": stats.bootstrap([a["cpu_s"] / b["cpu_s"] - 1 for a, b in both]).facts(),
        "verdict": vars(stats.verdict(added, mode.bar, problems(both, mode))),
    }


def wall(both: list[tuple[Row, Row]], of: str) -> Row:
    """Seconds of the job itself (`job_s`, from submission to end) or of its command (`wall_s`)."""
    known = [(a[of], b[of]) for a, b in both if a.get(of) and b.get(of)]
    return {
        "traced_s": median(a for a, _ in known) if known else None,
        "plain_s": median(b for _, b in known) if known else None,
        "added": stats.ratio(known).facts(),
    }


def by_threads(both: list[tuple[Row, Row]]) -> dict[str, Row]:
    """CPU s by group of threads: the mean of both sides and what was added, with its interval.

    The last row is what no group has: of a whole cluster at most 1 %, or the account is wrong.
    """
    pairs_of = [
        [{**side["threads_s"], UNEXPLAINED: rest(side)} for side in pair]
        for pair in both
        if all("threads_s" in side for side in pair)  # runs of before 2026-11-24 have none
    ]
    names = sorted({name for pair in pairs_of for side in pair for name in side} - {UNEXPLAINED})
    return {
        name: {
            "traced_s": round(mean(traced.get(name, 0) for traced, _ in pairs_of), 3),
            "plain_s": round(mean(plain.get(name, 0) for _, plain in pairs_of), 3),
            "added_s": stats.mean(
                [traced.get(name, 0) - plain.get(name, 0) for traced, plain in pairs_of]
            ).facts(),
        }
        for name in (*names, UNEXPLAINED)
        if pairs_of
    }


def rest(side: Row) -> float:
    """CPU s of a run that no group of threads has."""
    return float(side["cpu_s"] - sum(side["threads_s"].values()))


def ab(folder: Path, work: Path, size: int, modes: Sequence[Mode], count: int) -> Results:
    """TestDFSIO write and TeraSort, at one size."""
    results = Results(folder, "overhead-ab", {"megabytes": size})
    jobs = [workloads.dfsio("write", size), workloads.terasort(size)]
    measure(results, work, jobs, modes, count)
    results.conclude(
        [compared(of(results.runs, job, mode), job, mode) for job in jobs for mode in modes]
    )
    return results


def by_size(
    folder: Path,
    work: Path,
    kinds: Sequence[str],
    sizes: tuple[int, int],
    modes: Sequence[Mode],
    count: int,
) -> Results:
    """Jobs of KINDS at two sizes: what is added to each run, and to each MB."""
    results = Results(folder, "overhead-jobs", {"jobs": list(kinds), "sizes": list(sizes)})
    jobs = [[KINDS[kind](size) for size in sizes] for kind in kinds]
    measure(results, work, [job for both in jobs for job in both], modes, count)
    results.conclude([fitted(results.runs, both, mode) for both in jobs for mode in modes])
    return results


def fitted(runs: list[Row], jobs: list[Job], mode: Mode) -> Row:
    """Fixed and proportional cost of a job, and what was written about it."""
    points = [
        (job.megabytes, traced["cpu_s"] - plain["cpu_s"])
        for job in jobs
        for traced, plain in of(runs, job, mode)
    ]
    line = stats.line(points)
    return {
        "job": jobs[0].name,
        "mode": mode.name,
        "cost": line.facts() if line else None,
        "sizes": [
            {**compared(of(runs, job, mode), job, mode), **written(runs, job, mode)} for job in jobs
        ],
    }


def written(runs: list[Row], job: Job, mode: Mode) -> Row:
    """Bytes of trace per event, and as a share of the job's data: medians of its runs."""
    traces = [traced["trace"] for traced, _ in of(runs, job, mode)]
    if not traces:
        return {"bytes_per_event": None, "share_of_data": None}
    return {
        "events": median(trace["events"] for trace in traces),
        "bytes": median(trace["bytes"] for trace in traces),
        "bytes_per_event": median(trace["bytes"] / trace["events"] for trace in traces),
        "share_of_data": median(trace["bytes"] for trace in traces) / (job.megabytes * 1e6),
    }


def datanodes(
    folder: Path, work: Path, size: int, numbers: Sequence[int], mode: Mode, count: int
) -> Results:
    """TestDFSIO write on clusters of several sizes: is the share that is added the same?"""
    results = Results(folder, "overhead-datanodes", {"megabytes": size})
    job = workloads.dfsio("write", size)
    for number in numbers:
        measure(results, work, [job], [mode], count, datanodes=number, properties=ONE_REPLICA)
    rows = [
        {"datanodes": n, **compared(of(results.runs, job, mode, n), job, mode)} for n in numbers
    ]
    points = [
        (math.log2(number), math.log(traced["cpu_s"] / plain["cpu_s"]))
        for number in numbers
        for traced, plain in of(results.runs, job, mode, number)
    ]
    line = stats.line(points)
    results.conclude(
        {
            "by_datanodes": rows,
            "per_doubling": line.slope.facts() if line else None,
            "verdict": vars(stats.flat(line.slope, FLAT)) if line else None,
        }
    )
    return results
