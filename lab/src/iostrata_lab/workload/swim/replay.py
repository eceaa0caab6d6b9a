"""A replay on a cluster, and what its jobs did against what was asked of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from iostrata.errors import UserError
from iostrata_lab.workload.interface import Context, Result
from iostrata_lab.workload.swim.asked import plan
from iostrata_lab.workload.swim.plan import PlannedJob, ReplayPlan

IN_TIME = 100  # ms
SIZES = ("input", "shuffle", "output")
_BESIDE = (
    "shuffle_with_format", "local_written", "output_in_hdfs", "output_with_replicas", "error",
)  # fmt: skip
# The columns of java/jobs, Outcome.java; all but three are whole numbers.
_COLUMNS = (
    "index", "id", "state", "submit_ms", "accepted_ms", "began_ms", "ended_ms", "input", "shuffle",
    "output", *_BESIDE,
)  # fmt: skip
_TEXTS = ("id", "state", "error")


def check(context: Context) -> None:
    """Raises UserError for a trace or parameters that no plan follows from."""
    plan(context)


def stored(context: Context) -> int:
    """Bytes of inputs and outputs. Those that are deleted count too: their jobs may overlap."""
    return plan(context)[0].stored


def inputs(context: Context) -> None:
    """Writes each input once."""
    context.step("input")
    made, _ = plan(context)
    context.cluster.job(
        "swim-inputs", *_options(context), _plan_file(context, made), context.folder
    )


def replay(context: Context) -> Result:
    """Submits each job at its time, and waits for all; raises UserError when all fail."""
    context.step("replay")
    made, outages = plan(context)
    outcomes = context.scratch / "outcomes.tsv"
    words = (_plan_file(context, made), context.folder, str(outcomes))
    context.cluster.job("swim-replay", *_options(context), *words)
    rows = [row_of(made.jobs[one["index"]], one) for one in outcomes_of(outcomes)]
    if not any(row["done"] for row in rows):
        raise UserError(f"all {len(rows)} jobs failed: {rows[0]['error']}", "see its logs", 1)
    return summary_of(made, outages, rows) | {"jobs": rows}


def _options(context: Context) -> tuple[str, ...]:
    """What `ReplaySettings` of java/jobs reads, and where outputs stay."""
    said = {
        "record": context.number("record"),
        "random": context.real("random"),
        "seed": context.seed,
        "keep": str(context.text("outputs") == "keep").lower(),
    }
    return (*context.options, *(f"-Diostrata.swim.{name}={said[name]}" for name in said))


def _plan_file(context: Context, made: ReplayPlan) -> str:
    path = context.scratch / "plan.tsv"
    path.write_text("".join(_line(i, job) for i, job in enumerate(made.jobs)), "utf-8")
    return str(path)


def _line(index: int, job: PlannedJob) -> str:
    """What `PlannedJob` of java/jobs reads."""
    numbers = (index, job.at, job.file, job.input, job.shuffle, job.output, job.maps, job.reduces)
    return "\t".join((*map(str, numbers), job.name)) + "\n"


def outcomes_of(path: Path) -> list[dict[str, Any]]:
    """In the order of the plan; what is not known (-1) is None."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        texts = dict(zip(_COLUMNS, line.split("\t"), strict=True))
        found.append({name: _value(name, text) for name, text in texts.items()})
    return sorted(found, key=lambda one: one["index"])


def _value(name: str, text: str) -> str | int | None:
    if name in _TEXTS:
        return text
    return None if text == "-1" else int(text)


def row_of(asked: PlannedJob, one: dict[str, Any]) -> dict[str, Any]:
    """A job, asked and actual; times in ms from the start, bytes."""
    done = one["state"] == "SUCCEEDED"
    known = all(one[size] is not None for size in SIZES)
    wanted = {size: getattr(asked, size) for size in SIZES}
    exact = all(one[size] == wanted[size] for size in SIZES)
    exact = exact and one["output_in_hdfs"] == asked.output
    timed = done and one["ended_ms"] is not None and one["submit_ms"] is not None
    return {
        "name": asked.name,
        "id": one["id"],
        "done": done,
        "exact": exact if known else None,
        "maps": asked.maps,
        "reduces": asked.reduces,
        "planned_ms": asked.at,
        **{name: one[name] for name in ("submit_ms", "accepted_ms", "began_ms", "ended_ms")},
        "duration_ms": one["ended_ms"] - one["submit_ms"] if timed else None,
        **{f"asked_{size}": wanted[size] for size in SIZES},
        **{size: one[size] for size in SIZES},
        **{name: one[name] for name in _BESIDE},
    }


def summary_of(made: ReplayPlan, outages: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    sent = [row for row in rows if row["submit_ms"] is not None]
    late = [row["submit_ms"] - row["planned_ms"] for row in sent]
    gaps = [abs(after - before) for before, after in pairwise(late)]
    summary = {
        "jobs_asked": len(rows),
        "jobs_done": sum(row["done"] for row in rows),
        "jobs_exact": sum(row["exact"] is True for row in rows),
        "jobs_without_counters": sum(row["exact"] is None for row in rows),
        "map_only": sum(row["reduces"] == 0 for row in rows),
        "outages_left_out": outages,
        "submit_late_median_ms": median(late),
        "submit_late_max_ms": max(late),
        "submits_in_time": sum(one <= IN_TIME for one in late),
        "gap_off_max_ms": max(gaps, default=0),
        "input_files": sum(size > 0 for size in made.files),
        "input_files_bytes": sum(made.files),
    }
    for size, asked in zip(SIZES, made.total, strict=True):
        summary[f"asked_{size}"] = asked
        summary[size] = sum(row[size] or 0 for row in rows)
    for name in ("shuffle_with_format", "local_written", "output_with_replicas"):
        summary[name] = sum(row[name] or 0 for row in rows)
    return summary
