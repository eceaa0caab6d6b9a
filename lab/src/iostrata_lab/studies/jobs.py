"""The jobs that studies across workloads run, all of one size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iostrata.errors import UserError
from iostrata_lab.studies.interface import Wanted
from iostrata_lab.studies.samples import listed
from iostrata_lab.workload.parameters import BYTES, Parameter, Value

_MB = 1 << 20
_ROW = 100  # bytes, of TeraGen
_TASKS = 2
# Of each job: the workload, and what it is given besides its size.
JOBS: dict[str, tuple[str, tuple[str, ...]]] = {
    "teragen": ("teragen", ()),
    "terasort": ("terasort", ("validate=false",)),
    "wordcount": ("wordcount", ()),
    "randomtextwriter": ("randomtextwriter", ()),
    "sort": ("sort", ()),
    "grep": ("grep", ()),
    "testdfsio-write": ("testdfsio", ("mode=write",)),
    "testdfsio-read": ("testdfsio", ("mode=read",)),
}
# On Spark, which is an extra, so only where they are asked for; of a size of their own.
SPARK = ("pagerank", "bayes", "logistic", "nweight")
PARAMETERS = (
    Parameter("size", "size of the data of each job, except those of Spark",
              16 * _MB, BYTES, low=2 * _MB,
              high=1 << 44, scaled=True),
    Parameter("jobs", f"jobs to run; on Spark {', '.join(SPARK)}", ",".join(JOBS)),
)  # fmt: skip


def jobs(values: Mapping[str, Value]) -> Sequence[Wanted]:
    """A run for each job; raises UserError for one that is not there."""
    size = int(values["size"])
    names = listed(str(values["jobs"]))
    unknown = [name for name in names if name not in (*JOBS, *SPARK)]
    if unknown:
        raise UserError(f"jobs: no job {unknown[0]}", ", ".join((*JOBS, *SPARK)))
    return [Wanted(name, *_asked(name, size)) for name in names]


def _asked(name: str, size: int) -> tuple[str, tuple[str, ...]]:
    """The workload, and what it is given."""
    if name in SPARK:
        return name, ()
    workload, given = JOBS[name]
    return workload, (*_sized(name, size), *given)


def _sized(name: str, size: int) -> tuple[str, ...]:
    if name.startswith("tera"):
        return (f"rows={size // _ROW}",)
    if name.startswith("testdfsio"):  # whole MB each
        return (f"size={max(1, size // _TASKS // _MB)}MB", f"files={_TASKS}")
    return (f"size={size}",)
