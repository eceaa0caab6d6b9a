#!/usr/bin/env python3
"""Does following the advice bring what was predicted? Runs jobs before and after it, in turns.

    bench/rules/gains.py bench/runs/2026-11-23-rules [--pairs 5] [--only RULE ...]
    bench/rules/gains.py bench/runs/2026-11-23-rules --page     the table of docs/findings.md

The job with the cause is recorded once, which predicts the gain. Then it and the job that follows
the advice run in turns without a recording; the gain of a pair is the share of the first one's wall
time that the second one saves. All of it is written to gains.json in the folder.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from bench.measure.results import machine, say  # noqa: E402
from bench.rules.causes import JOBS, Job  # noqa: E402
from bench.rules.matrix import Bench  # noqa: E402
from scipy import stats  # noqa: E402

Row = dict[str, Any]


@dataclass(frozen=True)
class Advice:
    """What changes in the command of the job that has the cause: `old` for `new`."""

    rule: str
    old: str
    new: str

    @property
    def job(self) -> Job:
        return next(job for job in JOBS if job.cause == self.rule)

    @property
    def after(self) -> str:
        """The command that follows the advice."""
        text = self.job.command
        if text.count(self.old) != 1:
            raise ValueError(f"{self.rule}: {self.old!r} is not once in {text!r}")
        return text.replace(self.old, self.new)


def _in_code(rule: str) -> Advice:
    """Advice that changes the program: Mended.java has it."""
    return Advice(rule, f" {rule} ", f" mended-{rule} ")


ADVICE = (
    _in_code("small-reads"),
    _in_code("small-writes"),
    _in_code("bytewise"),
    _in_code("fs-not-cached"),
    _in_code("frequent-flush"),
    _in_code("datanode-sync"),
    _in_code("local-sync"),
    _in_code("metadata-storm"),
    _in_code("open-churn"),
    _in_code("read-amplification"),
    _in_code("rereading"),
    Advice("small-blocks", "-Ddfs.blocksize=1048576", "-Ddfs.blocksize=134217728"),
    Advice("gc-bound", "-Xmx48m", "-Xmx480m"),
    Advice("short-tasks", "-Dmapreduce.input.fileinputformat.split.maxsize=800000", ""),
    Advice("too-many-spills", "sort.mb=1", "sort.mb=64"),
    Advice("merge-passes", "sort.factor=2", "sort.factor=100"),
    Advice("log-writes", " log-writes ", " none "),
    Advice("slow-commit", "algorithm.version=1", "algorithm.version=2"),
    Advice("one-reduce", "reduces=1", "reduces=3"),
    Advice(
        "uncompressed-intermediate",
        " none ",
        " -Dmapreduce.map.output.compress=true none ",
    ),
)


def measured(bench: Bench, advice: Advice, pairs: int) -> Row:
    """The prediction of a recorded run, and the wall times (s) of pairs in turns."""
    job = advice.job
    recorded = bench.run(job)
    found = next((f for f in recorded["findings"] if f["rule"] == advice.rule), None)
    before, after = [], []
    with bench.braked(job):
        for _ in range(pairs):
            before.append(bench.timed(job, job.command))
            after.append(bench.timed(job, advice.after))
    return {
        "rule": advice.rule,
        "before": job.command,
        "after": advice.after,
        "predicted": found and [found["gain"]["low"], found["gain"]["high"]],
        "share": found and found["share"],
        "before_s": before,
        "after_s": after,
        "seed": bench.seed,
        "machine": machine(),
    }


def interval(row: Row) -> tuple[float, float, float]:
    """Mean gain of the pairs, and its 95 % interval by Student's t."""
    gains = [
        1 - after / before for before, after in zip(row["before_s"], row["after_s"], strict=True)
    ]
    mean = sum(gains) / len(gains)
    half = stats.sem(gains) * stats.t.ppf(0.975, len(gains) - 1)
    return mean, mean - half, mean + half


MEASURED = ("before | after | predicted | measured (95 %) | within", "---:|---:|---:|---:|---")


def measured_cells(row: Row) -> str:
    """The cells of `MEASURED`; `predicted` of a row is null where no gain was."""
    mean, low, high = interval(row)
    before, after = (sum(row[key]) / len(row[key]) for key in ("before_s", "after_s"))
    least, most = row["predicted"] or (0.0, 0.0)
    within = "yes" if low <= most and least <= high else "above" if low > most else "below"
    return (
        f"{before:.1f} s | {after:.1f} s | {least:.0%} to {most:.0%} "
        f"| {mean:.0%} ({low:.0%} to {high:.0%}) | {within}"
    )


def page(rows: list[Row]) -> str:
    """A line a rule, in Markdown."""
    lines = [f"| rule | {MEASURED[0]} |", f"|---|{MEASURED[1]}|"]
    return "\n".join([*lines, *(f"| {row['rule']} | {measured_cells(row)} |" for row in rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[], help="names of rules")
    parser.add_argument("--page", action="store_true", help="print the table of what is there")
    chosen = parser.parse_args()
    path = chosen.folder / "gains.json"
    rows: list[Row] = json.loads(path.read_text()) if path.exists() else []
    if chosen.page:
        print(page(rows))
        return
    chosen.folder.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="iostrata-gains-"))
    wanted = [a for a in ADVICE if not chosen.only or a.rule in chosen.only]
    for lab in dict.fromkeys(advice.job.lab for advice in wanted):
        with Bench(lab, work, chosen.seed, "small") as bench:
            for advice in (a for a in wanted if a.job.lab == lab):
                row = measured(bench, advice, chosen.pairs)
                rows = [old for old in rows if old["rule"] != advice.rule] + [row]
                path.write_text(json.dumps(rows, indent=1) + "\n")
                say(page([row]).rpartition("\n")[2])
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
