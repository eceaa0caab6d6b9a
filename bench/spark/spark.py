#!/usr/bin/env python3
"""The workloads on Spark, recorded, and the trace against what Spark itself counted.

    bench/spark/spark.py bench/runs/2026-11-23-spark [WORKLOAD:NAME=VALUE,... ...]

On a lab of its own: each workload with its defaults in a local JVM, then PageRank on YARN with two
executors, or those that are named. Writes NAME.json for each, as `iostrata workload run --json`
gives it, with `trace`, the same counters by stage as the trace has them, and prints a line each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LAB = "spark-bench"
RUNS = (
    "pagerank",
    "logistic",
    "bayes",
    "nweight",
    "pagerank:pages=2000,master=yarn,executors=2,cores=1",
)
# A sorter of serialized rows (point 623) that never was full writes one file: to Spark no spill.
TRACE = """
WITH tasks AS (
  SELECT phase, task,
    sum(CASE WHEN layer = 'hdfs' AND op = 'read' THEN bytes ELSE 0 END) AS hdfs_read,
    sum(CASE WHEN op = 'shuffle_commit' THEN bytes ELSE 0 END) AS shuffle_written,
    sum(CASE WHEN layer = 'task' AND op IN ('local_block', 'receive') THEN bytes ELSE 0 END)
      AS shuffle_read,
    sum(CASE WHEN op = 'spill' AND point <> 623 THEN bytes ELSE 0 END) AS spilled,
    sum(CASE WHEN point = 623 THEN bytes ELSE 0 END) AS files,
    sum(CASE WHEN point = 623 THEN count ELSE 0 END) AS filed
  FROM sums WHERE phase LIKE 'stage %' AND task <> '' GROUP BY phase, task
)
SELECT phase AS stage, count(*)::BIGINT AS tasks, sum(hdfs_read)::BIGINT AS hdfs_read,
  sum(shuffle_written)::BIGINT AS shuffle_written, sum(shuffle_read)::BIGINT AS shuffle_read,
  sum(spilled + CASE WHEN filed > 1 THEN files ELSE 0 END)::BIGINT AS spilled
FROM tasks GROUP BY phase ORDER BY phase
"""
SUMMED = ("tasks", "hdfs_read", "shuffle_written", "shuffle_read", "spilled")


def iostrata(store: Path, *words: str) -> str:
    """Standard output; ends this program when it fails."""
    environment = {**os.environ, "IOSTRATA_STORE": str(store)}
    command = [sys.executable, "-m", "iostrata", *words]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}")
    return done.stdout


def counted(stage: dict[str, Any]) -> dict[str, int]:
    """What Spark says of a stage, in the words of the trace. Its input is also what was cached."""
    return {
        "tasks": stage["tasks"],
        "shuffle_written": stage["shuffle_written"],
        "shuffle_read": stage["shuffle_read_local"] + stage["shuffle_read_remote"],
        "spilled": stage["spilled"],
    }


def run(folder: Path, store: Path, asked: str) -> None:
    workload, _, given = asked.partition(":")
    sets = [word for one in filter(None, given.split(",")) for word in ("--set", one)]
    name = workload + ("-yarn" if "master=yarn" in given else "")
    words = ("workload", "run", workload, "--lab", LAB, "--json", "-q", "--record", "--run", name)
    said = json.loads(iostrata(store, *words, *sets))
    traced = json.loads(iostrata(store, "query", TRACE, "--run", name, "--format", "json"))
    stages = {row["stage"].removeprefix("stage "): row for row in traced}
    by_spark = {row["stage"]: counted(row) for row in said["result"]["spark"]["stages"]}
    differing = [
        f"{stage} {key}: {value} by Spark, {stages.get(stage, {}).get(key)} by the trace"
        for stage, row in by_spark.items()
        for key, value in row.items()
        if stages.get(stage, {}).get(key) != value
    ]
    document = {**said, "trace": traced, "differing": differing}
    (folder / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    total = {key: sum(row[key] for row in traced) for key in SUMMED}
    print(f"{name}: {said['run_s']:.1f} s, {len(by_spark)} stages, {total}", flush=True)
    print(f"  differs: {'; '.join(differing) or 'nothing'}", flush=True)


def main() -> None:
    folder, *asked = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="iostrata-spark-bench-") as scratch:
        store = Path(scratch)
        iostrata(store, "lab", "up", "hadoop", "--name", LAB)
        try:
            for one in asked or RUNS:
                run(Path(folder), store, one)
        finally:
            iostrata(store, "lab", "down", LAB)


if __name__ == "__main__":
    main()
