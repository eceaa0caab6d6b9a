#!/usr/bin/env python3
"""What tfs:// costs a whole job: CPU of the cluster and wall time, beside the same job without it.

    bench/jobs/tfs.py FOLDER [--pairs 10]

One lab of two DataNodes without any agent, in a control group. Each job runs on `hdfs://`, and on
`tfs://hdfs@` below `iostrata record --private`: in pairs, the order turned with each. The jar goes
along with the job (`-libjars`), as for a user who may install nothing, so its copies to the
cluster count, and so do the collector and the recorder. TeraSort is not among them: its
NodeManagers fetch a file of the job by its path, and have no `tfs://` then. Writes every run
into FOLDER/tfs-jobs.json and prints by how much the second exceeds the first, with 95 %
intervals; goes on where it was ended. Needs root.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from bench.measure import stats, traces  # noqa: E402
from bench.measure.cluster import PLAIN, Side  # noqa: E402
from bench.measure.results import Results, Row, end_as_by_ctrl_c, say  # noqa: E402
from bench.measure.workloads import BASE, Job, sort, wordcount  # noqa: E402

from iostrata.artifacts import tfs_jar  # noqa: E402

RUN = "tfs"
MEASURES = {"cpu_s": "CPU of the cluster", "wall_s": "wall time", "job_s": "of it the job"}
# Arguments: the jar of examples, the job, its paths. Where to write to stands in the option of the
# agent, which the program does without.
SCRIPT = """#!/usr/bin/env bash
set -eu
dir="${{JAVA_TOOL_OPTIONS##*dir=}}" run="${{JAVA_TOOL_OPTIONS##*run=}}"
unset JAVA_TOOL_OPTIONS
export CLASSPATH="{jar}:$CLASSPATH" HADOOP_CLASSPATH="{jar}"
exec hadoop jar "$1" "$2" -libjars {jar} \\
    -Dfs.tfs.trace.dir="${{dir%%,*}}" -Dfs.tfs.trace.run="${{run%%,*}}" "${{@:3}}"
"""


def by_tfs(job: Job, side: Side) -> Job:
    """The same job, below the recorder and by tfs://."""
    script = side.work / "by-tfs"
    script.write_text(SCRIPT.format(jar=tfs_jar()))
    script.chmod(0o755)
    uri = f"tfs://hdfs@{side.lab.state.at('namenode')}"
    words = job.command.replace(f" {BASE}/", f" {uri}{BASE}/").removeprefix("hadoop jar ")
    record = f"{sys.executable} -m iostrata record --private --quiet --store {side.store}"
    return replace(job, command=f"{record} --run {RUN} -- {script} {words}")


def measured(side: Side, job: Job, kind: str, number: int) -> Row:
    ran = side.measure(by_tfs(job, side) if kind == "tfs" else job, number)
    if kind == "tfs":
        ran["trace"] = traces.facts(side.store, RUN)
        traces.forget(side.store, RUN)
    return {**ran, "side": kind}


def shown(runs: list[Row], jobs: list[Job]) -> list[str]:
    found = []
    for job in jobs:
        own = {(r["number"], r["side"]): r for r in runs if r["job"] == job.name}
        for measure, title in MEASURES.items():
            pairs = [
                (own[number, "tfs"][measure], own[number, "hdfs"][measure])
                for number, kind in own
                if kind == "hdfs" and number
            ]
            if len(pairs) > 1:
                more = stats.ratio(pairs)
                found.append(
                    f"{job.title}, {title}: {more.estimate:+.1%} "
                    f"({more.low:+.1%} to {more.high:+.1%}, n = {more.n})"
                )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=10)
    given = parser.parse_args()
    end_as_by_ctrl_c()
    jobs = [wordcount(64), sort(64)]
    results = Results(given.folder, "tfs-jobs", {"jobs": [job.title for job in jobs]})
    begin = 1 + max((run["number"] for run in results.runs), default=0)
    with tempfile.TemporaryDirectory() as work, Side(PLAIN, Path(work), "tfs") as side:
        # pair 0 warms a new cluster up, and is left out
        for number in (0, *range(begin, given.pairs + 1)):
            kinds = ("hdfs", "tfs") if number % 2 else ("tfs", "hdfs")
            rows = [measured(side, job, kind, number) for job in jobs for kind in kinds]
            results.add(rows)
            say(f"pair {number} of {given.pairs} done")
    results.conclude(shown(results.runs, jobs))
    print("\n".join(shown(results.runs, jobs)))


if __name__ == "__main__":
    main()
