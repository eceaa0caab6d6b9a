"""TeraGen, TeraSort, TeraValidate."""

from __future__ import annotations

from iostrata.errors import UserError
from iostrata_lab.workload import mapreduce
from iostrata_lab.workload.interface import Context, Result, Workload
from iostrata_lab.workload.parameters import Parameter

PACKAGE = "org.apache.hadoop.examples.terasort"
ROW = 100  # bytes
ROWS = Parameter(
    "rows", "number of rows of 100 bytes", 1_000_000, "rows", low=1, high=1e11, scaled=True
)
MAPS = Parameter("maps", "maps that write the rows", 2, "tasks", low=1, high=10_000)
REDUCES = Parameter("reduces", "reduces that sort them", 2, "tasks", low=1, high=10_000)
VALIDATE = Parameter("validate", "whether TeraValidate reads the output back", True)


def _size(context: Context) -> int:
    return context.number("rows") * ROW


def _generate(context: Context, folder: str) -> mapreduce.Job:
    maps = f"-Dmapreduce.job.maps={context.number('maps')}"
    rows = str(context.number("rows"))
    jobs, _ = mapreduce.run(context, f"{PACKAGE}.TeraGen", maps, rows, folder)
    return jobs[0]


def _teragen(context: Context) -> Result:
    context.step("run")
    job = _generate(context, context.folder)
    return {"asked_bytes": _size(context), "jobs": [job.answer()]}


def _input(context: Context) -> None:
    context.step("input")
    _generate(context, f"{context.folder}/in")


def _terasort(context: Context) -> Result:
    context.step("run")
    reduces = f"-Dmapreduce.job.reduces={context.number('reduces')}"
    places = (f"{context.folder}/in", f"{context.folder}/out")
    jobs, _ = mapreduce.run(context, f"{PACKAGE}.TeraSort", reduces, *places)
    if context.truth("validate"):
        report = f"{context.folder}/report"
        more, _ = mapreduce.run(context, f"{PACKAGE}.TeraValidate", places[1], report)
        jobs += more
        # it writes a checksum, and a line more for each row out of order
        if more[-1].counter("Reduce output records") != 1:
            raise UserError("TeraValidate found rows out of order", f"see {report}", exit_code=1)
    return {"asked_bytes": _size(context), "jobs": [job.answer() for job in jobs]}


TERAGEN = Workload(
    name="teragen",
    about="writes rows of random keys",
    stresses="the write pipeline of HDFS; no shuffle",
    parameters=(ROWS, MAPS),
    run=_teragen,
    bytes=_size,
    steps=("run",),
)
TERASORT = Workload(
    name="terasort",
    about="sorts rows of random keys, and validates their order",
    stresses="everything: reading, spills, shuffle, merging, writing",
    parameters=(ROWS, MAPS, REDUCES, VALIDATE),
    run=_terasort,
    prepare=_input,
    bytes=lambda context: 2 * _size(context),
    steps=("input", "run"),
)
