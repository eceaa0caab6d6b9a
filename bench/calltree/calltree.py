#!/usr/bin/env python3
"""Speed and compression of call trees, beside DuckDB merging level by level.

    bench/calltree/calltree.py bench/runs/2026-11-23-calltree [RUN…] [--spans 5000000] [--pairs 5]

For each recorded run (a folder of a store) and two made ones (no noise, 1 % noise): interleaved
rounds of `iostrata-native calltree --order sets` and of levels.py, each with one and two threads;
all read the same Parquet files. CPU (user + system, getrusage) and wall time of each process.
All must find the same numbers of spans, nodes and calls, else it stops.
Then nodes and trees by order, before and after, and of recorded runs whether calls, bytes and
errors of each function are those of their sums. Writes calltree.json into the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from multiprocessing import Process
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.measure.results import machine  # noqa: E402

NATIVE = os.environ.get("IOSTRATA_NATIVE", str(ROOT / "target/release/iostrata-native"))
LEVELS = str(ROOT / "bench/calltree/levels.py")
ORDERS = ("sets", "runs", "paths")
OURS = ("ours-1", "ours-2")  # and how many threads each may use
THEIRS = ("duckdb-1", "duckdb-2")
SIDES = (*OURS, *THEIRS)
Row = dict[str, Any]


def timed(command: list[str]) -> tuple[Row, Row]:
    """What a command printed as JSON, and what it took."""
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begin
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(command[:2])} ended with {child.returncode}")
        out.seek(0)
        found = json.load(out)
    cost = {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "peak_kb": used.ru_maxrss}
    return found, cost


def ours(run: Path, order: str, threads: int = 2) -> tuple[Row, Row]:
    found, cost = timed(
        [NATIVE, "calltree", "--run", str(run), "--order", order, f"--threads={threads}"]
    )
    # leaves of calls that were only summed have no spans: the baseline knows nothing of sums
    nodes = [node for node in found["nodes"] if node["spans"]]
    timed_calls = [count for node in nodes for _, count in node["histogram"]]
    roots = [node for node in nodes if node["parent"] is None]
    return {
        "spans": found["spans"],
        "nodes": len(nodes),
        "calls": sum(timed_calls),
        "trees_before": sum(node["spans"] for node in roots),
        "trees": len(roots),
        "orphans": found["orphans"],
        "unsummed": found["unsummed"],
        "hung_from_sums": len(found["nodes"]) - len(nodes),
    }, cost


def theirs(run: Path, threads: int) -> tuple[Row, Row]:
    files = sorted(str(path) for path in run.glob("events/*/*.parquet"))
    return timed([sys.executable, LEVELS, str(threads), *files])


def compared(name: str, run: Path, pairs: int) -> Row:
    runs: list[Row] = []
    for pair in range(pairs):
        for side in SIDES if pair % 2 == 0 else SIDES[::-1]:
            threads = int(side[-1])
            of = ours(run, "sets", threads) if side in OURS else theirs(run, threads)
            runs.append({"pair": pair, "side": side, **of[0], **of[1]})
    found = {tuple(run[key] for key in ("spans", "nodes", "calls")) for run in runs}
    if len(found) != 1:
        raise SystemExit(f"{name}: spans, nodes and calls differ: {sorted(found)}")
    orders = {order: ours(run, order)[0] for order in ORDERS}
    print_speed(name, runs)
    for order, of in orders.items():
        print(f"{name}: {order}: {of['spans']:,} spans in {of['nodes']:,} nodes", end=", ")
        print(f"{of['trees_before']:,} trees in {of['trees']:,}")
    return {"name": name, "runs": runs, "orders": orders}


def exact(run: Path) -> Row:
    """Functions of the run's sums, and those with other calls, bytes or errors in the tree."""
    found, _ = timed([NATIVE, "calltree", "--run", str(run)])
    tree: dict[tuple[str, str], list[int]] = {}
    for node in found["nodes"]:
        of = tree.setdefault((node["layer"], node["op"]), [0, 0, 0])
        of[:] = [a + node[b] for a, b in zip(of, ("calls", "bytes", "errors"), strict=True)]
    sums = duckdb.sql(f"""
        SELECT layer, op, sum(count)::BIGINT,
            coalesce(sum(bytes) FILTER (flags & 32 = 0), 0)::BIGINT,
            coalesce(sum(errors), 0)::BIGINT
        FROM read_parquet('{run}/events/*/*.parquet', hive_partitioning = false)
        WHERE kind = 'sum' AND layer <> 'jvm' GROUP BY layer, op""").fetchall()
    differ = [row for row in sums if tree.get((row[0], row[1])) != list(row[2:])]
    print(f"{run.name}: {len(sums)} functions, {len(differ)} differ from the sums")
    return {"functions": len(sums), "calls": sum(row[2] for row in sums), "differ": differ}


def print_speed(name: str, runs: list[Row]) -> None:
    def median(side: str, what: str) -> float:
        return statistics.median(run[what] for run in runs if run["side"] == side)

    spans = runs[0]["spans"]
    for side in SIDES:
        rate = spans / median(side, "cpu") / 1e6
        peak = max(run["peak_kb"] for run in runs if run["side"] == side) / 1024
        print(f"{name}: {side}: {rate:.2f} M spans per CPU second,", end=" ")
        print(f"{median(side, 'wall'):.2f} s wall, {peak:.0f} MiB")
    pairs = {(run["pair"], run["side"]): run for run in runs}
    for one, other in zip(OURS, THEIRS, strict=True):
        for what in ("cpu", "wall"):
            ratios = [
                pairs[pair, other][what] / pairs[pair, one][what]
                for pair in sorted({run["pair"] for run in runs})
            ]
            shown = ", ".join(f"{ratio:.1f}" for ratio in sorted(ratios))
            print(
                f"{name}: {other} takes {statistics.median(ratios):.1f} times the {what} ({shown})"
            )


def make(folder: str, spans: int, noise: float) -> None:
    from bench.calltree import forests

    forests.write(Path(folder), spans, noise, seed=1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("recorded", type=Path, nargs="*")
    parser.add_argument("--spans", type=int, default=5_000_000)
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    results: Row = {"machine": machine(), "spans": given.spans, "seed": 1, "compared": []}

    def add(name: str, run: Path) -> None:
        results["compared"].append(compared(name, run, given.pairs))
        (given.folder / "calltree.json").write_text(json.dumps(results, indent=1) + "\n")

    results["exact"] = {run.name: exact(run) for run in given.recorded}
    for run in given.recorded:
        add(run.name, run)
    for noise in (0.01, 0.0):
        with tempfile.TemporaryDirectory() as folder:
            # in a process of its own: the memory of a child begins with that of its parent
            made = Process(target=make, args=(folder, given.spans, noise))
            made.start()
            made.join()
            add(f"noise-{noise}", Path(folder))


if __name__ == "__main__":
    main()
