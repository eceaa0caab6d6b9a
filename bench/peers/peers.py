#!/usr/bin/env python3
"""What other tracers cost and see, beside iostrata, on the same jobs.

    bench/peers/peers.py bench/runs/2026-11-22-peers [--pairs 10] [--megabytes 64]
    bench/peers/peers.py FOLDER --parts known,jfr     some of: known, and the tools' names
    bench/peers/peers.py FOLDER --page                write the tables of docs/peers.md from it

Tools: iostrata at its default budget, and with every call kept (iostrata-all); Java Flight
Recorder's file and socket events of any length, without and with stacks; the OpenTelemetry Java
agent with spans on the methods that iostrata traces, sent to a receiver that only counts; HTrace on
Hadoop 3.2.4, its last. Each stands in every JVM of a lab in a control group of its own, beside a
lab of the same version without any; TestDFSIO write and TeraSort run in both, a pair after the
other, the order turned with each. `known` runs a program that says how much of what it did, once
to its end and once to a kill -9.

Writes peers-TOOL.json and peers-known.json into the folder: every run, and for each job the CPU
added with its 95 % interval and the bytes per operation. Called again it goes on where it was
ended. Needs root.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from bench.measure import pairs, stats, workloads  # noqa: E402
from bench.measure.cluster import PLAIN, Observer, Side  # noqa: E402
from bench.measure.results import Results, end_as_by_ctrl_c, say  # noqa: E402
from bench.measure.workloads import Job  # noqa: E402
from bench.peers import known, page, tools  # noqa: E402
from bench.peers.otlp import Receiver  # noqa: E402

Row = dict[str, Any]
# iostrata as it comes, within its budget, and with each call recorded individually.
KEPT = {"iostrata": (), "iostrata-all": ("--budget", "off")}
TOOLS = (*KEPT, "jfr", "jfr-stacks", "opentelemetry", "htrace")
PARTS = ("known", *TOOLS)


def observer(name: str, folder: Path, stack: ExitStack, hot: bool = False) -> Observer:
    """The tool of that name; what it needs lives as long as `stack`."""
    if name in KEPT:
        return Observer(name, traced=True, record=KEPT[name])
    if name.startswith("jfr"):
        return tools.jfr(folder, stacks=name == "jfr-stacks")
    if name == "opentelemetry":
        return tools.otel(folder, stack.enter_context(Receiver()), hot)
    return tools.htrace(folder)


def baseline(tool: Observer) -> Observer:
    """Nothing, on the version of Hadoop that the tool is for."""
    return replace(PLAIN, command=tool.command, version=tool.version, jvm=tool.jvm)


def measure_tool(folder: Path, name: str, jobs: list[Job], count: int, work: Path) -> None:
    results = Results(folder, f"peers-{name}", {"jobs": [job.title for job in jobs]})
    if all(len(pairs.complete(results.runs, job, (name, PLAIN.name))) >= count for job in jobs):
        say(f"{name}: all {count} pairs are there")
    else:
        with ExitStack() as stack:
            tool = observer(name, work / f"tool-{name}", stack)
            watched = stack.enter_context(Side(tool, work, f"peers-{name}"))
            plain = stack.enter_context(Side(baseline(tool), work, f"peers-{name}"))
            pairs.measure(results, (watched, plain), jobs, count)
    results.conclude([summed(results.runs, job, name) for job in jobs])


def summed(runs: list[Row], job: Job, name: str) -> Row:
    """CPU added, with its interval, and what was written, of one job."""
    both = pairs.complete(runs, job, (name, PLAIN.name))
    traces = [watched["trace"] for watched, _ in both]
    events = sum(trace["events"] for trace in traces)
    return {
        "job": job.name,
        "megabytes": round(job.megabytes, 3),
        "added": stats.ratio([(a["cpu_s"], b["cpu_s"]) for a, b in both]).facts(),
        "added_cpu_s": stats.mean([a["cpu_s"] - b["cpu_s"] for a, b in both]).facts(),
        "events": events / len(traces) if traces else None,
        "bytes_per_event": sum(trace["bytes"] for trace in traces) / events if events else None,
        "problems": sorted({p for trace in traces for p in trace.get("problems", [])}),
    }


def measure_known(folder: Path, work: Path) -> None:
    results = Results(folder, "peers-known", {})
    missing = [name for name in TOOLS if not results.having(tool=name)]
    groups = ([n for n in missing if n != "htrace"], [n for n in missing if n == "htrace"])
    for names in filter(None, groups):
        with ExitStack() as stack:
            folders = {name: work / f"tool-{name}" for name in names}
            found = {name: observer(name, folders[name], stack, hot=True) for name in names}
            # HTrace is a part of Hadoop: its properties are those of the client, too.
            lab = found["htrace"] if "htrace" in names else PLAIN
            lab = replace(lab, name="known", after=None)
            program = known.Program(stack.enter_context(Side(lab, work, "peers", 1)), work)
            for name, tool in found.items():
                results.add(known_rows(program, name, tool, folders[name]))
    results.conclude(sorted(results.runs, key=lambda row: PARTS.index(row["tool"])))


def known_rows(program: known.Program, name: str, tool: Observer, folder: Path) -> list[Row]:
    if name in KEPT:
        return known.iostrata_rows(program, name, tool.record)
    if name.startswith("jfr"):
        return known.watch(program, name, tool.options, lambda: known.jfr_seen(folder))
    after = tool.after
    assert after is not None

    def seen() -> Counter[str]:
        return known.spans_seen(Counter(after(folder)["all_names"]))

    return known.watch(program, name, tool.options, seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--megabytes", type=int, default=64, help="of data for each job")
    parser.add_argument("--parts", default=",".join(PARTS), help="default: %(default)s")
    parser.add_argument("--page", action="store_true", help="only write docs/peers.md")
    arguments = parser.parse_args()
    parts = arguments.parts.split(",")
    if not set(parts) <= set(PARTS) or arguments.pairs < 1:
        parser.error(f"--parts is some of {','.join(PARTS)}; --pairs at least 1")
    if arguments.page:
        page.write(arguments.folder)
        return
    end_as_by_ctrl_c()
    size = arguments.megabytes
    jobs = [workloads.dfsio("write", size), workloads.terasort(size)]
    work = Path(tempfile.mkdtemp(prefix="iostrata-peers-"))
    try:
        if "known" in parts:
            measure_known(arguments.folder, work)
        for name in [part for part in parts if part != "known"]:
            measure_tool(arguments.folder, name, jobs, arguments.pairs, work)
    except KeyboardInterrupt:
        sys.exit("interrupted: call it again to go on")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(page.tables(arguments.folder))


if __name__ == "__main__":
    main()
