"""What may be asked of a replay, and the plan that follows from it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from iostrata.errors import UserError
from iostrata_lab.workload.interface import Context
from iostrata_lab.workload.parameters import BYTES, Parameter
from iostrata_lab.workload.swim.fit import Fit
from iostrata_lab.workload.swim.plan import Popularity, ReplayPlan, Scaling, planned
from iostrata_lab.workload.swim.synthesis import drawn
from iostrata_lab.workload.swim.trace import HEAVY, TraceJob, read, without_outages

TRACE = Parameter("trace", "fb-2009-first50, fb-2009, or a file of that format", "fb-2009-first50")
FIT = Parameter("fit", "draw jobs from this file of `iostrata workload fit` instead of a trace", "")
PRESET = Parameter(
    "preset", "jobs of S3 instead of a trace: 1 TB of one kind, 1 byte of the others", "none",
    choices=("none", *HEAVY),
)  # fmt: skip
ONLY = Parameter(
    "only", "only jobs that have most of their bytes there; gaps become longer", "all",
    choices=("all", *HEAVY),
)  # fmt: skip
FIRST = Parameter("first", "first job of the trace, from 1", 1, "job", low=1, high=1_000_000)
JOBS = Parameter("jobs", "number of jobs at most", 50, "jobs", low=1, high=100_000)
TIME = Parameter("time_scale", "factor for all gaps", 0.1, low=0, high=1000)
DATA = Parameter("data_scale", "factor for all bytes", 0.001, low=1e-12, high=1000, scaled=True)
FLOOR = Parameter(
    "floor", "least size after scaling, where it is not 0", 0, BYTES, low=0, high=1 << 40
)
SPLIT = Parameter("split", "bytes of a map at most", 128 << 20, BYTES, low=1 << 10, high=1 << 40)
PER_REDUCE = Parameter(
    "per_reduce", "bytes of a reduce at most", 256 << 20, BYTES, low=1 << 10, high=1 << 40
)  # fmt: skip
# A record must fit into the sort buffer of a map with room for others.
RECORD = Parameter("record", "bytes of a record", 64 << 10, BYTES, low=1 << 10, high=4 << 20)
RANDOM = Parameter("random", "share of bytes that do not compress", 1.0, low=0, high=1)
OUTPUTS = Parameter(
    "outputs", "whether outputs are deleted or kept when their job has ended", "delete",
    choices=("delete", "keep"),
)  # fmt: skip
REREAD = Parameter(
    "reread", "share of jobs that read an input again, for traces without paths", Popularity.reread,
    low=0, high=1,
)  # fmt: skip
ZIPF = Parameter(
    "zipf", "exponent of the popularity of inputs, for traces without paths", Popularity.zipf,
    low=0, high=10,
)  # fmt: skip
PARAMETERS = (
    TRACE, FIT, PRESET, ONLY, FIRST, JOBS, TIME, DATA, FLOOR, SPLIT, PER_REDUCE, RECORD, RANDOM,
    OUTPUTS, REREAD, ZIPF,
)  # fmt: skip

TERABYTE = 10**12  # what S3, section 3.1, gives to the part that is heavy
MOST_TASKS = 100_000  # of a job: its ApplicationMaster holds them all in memory


def plan(context: Context) -> tuple[ReplayPlan, int]:
    """The plan, and how many outages of the trace were left out; raises UserError."""
    jobs, outages = _jobs(context)
    made = planned(jobs, _scaling(context), _popularity(context), context.seed)
    for job in made.jobs:
        if max(job.maps, job.reduces) > MOST_TASKS:
            raise UserError(
                f"{job.name} would have {job.maps} maps and {job.reduces} reduces, "
                f"{MOST_TASKS} are allowed",
                "say a larger split or per_reduce, or a smaller data_scale",
            )
    return made, outages


def _jobs(context: Context) -> tuple[list[TraceJob], int]:
    preset, only, fit = context.text("preset"), context.text("only"), context.text("fit")
    first, most = context.number("first"), context.number("jobs")
    if preset != "none":
        if fit or only != "all":
            raise UserError(f"preset={preset} goes with neither fit nor only", "say one of them")
        return [_preset(preset, i) for i in range(most)], 0
    whole = drawn(Fit.read(Path(fit)), first - 1 + most, context.seed) if fit else []
    name = fit or context.text("trace")
    whole, outages = (whole, 0) if fit else without_outages(read(name))
    if first > len(whole):
        raise UserError(f"first={first} is not in {name}", f"it has {len(whole)} jobs")
    jobs = [job for job in whole[first - 1 :] if only in ("all", job.heavy)][:most]
    if not jobs:
        raise UserError(f"only={only} leaves no job of {name}", f"another kind: {', '.join(HEAVY)}")
    return jobs, outages


def _preset(heavy: str, number: int) -> TraceJob:
    """S3, section 3.1: submit gaps of 1 s, and one input for all."""
    read, shuffled, written = (TERABYTE if heavy == kind else 1 for kind in HEAVY)
    name, gap = f"{heavy}-{number}", min(number, 1)
    return TraceJob(name, number, gap, read, shuffled, written, path="input")


def _scaling(context: Context) -> Scaling:
    scaling = Scaling(
        time=Fraction(str(context.real("time_scale"))),
        data=Fraction(str(context.real("data_scale"))),
        floor=context.number("floor"),
        split=context.number("split"),
        per_reduce=context.number("per_reduce"),
    )
    if context.text("preset") == "none":
        return scaling
    return replace(scaling, floor=max(1, scaling.floor))  # its single bytes stay


def _popularity(context: Context) -> Popularity:
    return Popularity(context.real("reread"), context.real("zipf"))
