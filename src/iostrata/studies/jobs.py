"""The jobs that studies across workloads run, all of one size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iostrata.errors import UserError
from iostrata.studies.interface import Wanted
from iostrata.studies.samples import listed
from iostrata.workload.parameters import BYTES, Parameter, Value

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
PARAMETERS = (
    Parameter("size", "of the data of each job", 16 * _MB, BYTES, low=2 * _MB, high=1 << 44,
              scaled=True),
    Parameter("jobs", "that are run", ",".join(JOBS)),
)  # fmt: skip


def jobs(values: Mapping[str, Value]) -> Sequence[Wanted]:
    """A run for each job; raises UserError for one that is not there."""
    size = int(values["size"])
    names = listed(str(values["jobs"]))
    unknown = [name for name in names if name not in JOBS]
    if unknown:
        raise UserError(f"jobs: no job {unknown[0]}", ", ".join(JOBS))
    return [Wanted(name, JOBS[name][0], (*_sized(name, size), *JOBS[name][1])) for name in names]


def _sized(name: str, size: int) -> tuple[str, ...]:
    if name.startswith("tera"):
        return (f"rows={size // _ROW}",)
    if name.startswith("testdfsio"):  # whole MB each
        return (f"size={max(1, size // _TASKS // _MB)}MB", f"files={_TASKS}")
    return (f"size={size}",)
