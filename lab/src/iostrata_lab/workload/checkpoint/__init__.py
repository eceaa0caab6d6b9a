"""A parallel program that saves its state, in a folder of a mounted file system (S4.4)."""

from __future__ import annotations

from iostrata_lab.workload.checkpoint.parameters import PARAMETERS, check, total
from iostrata_lab.workload.checkpoint.work import perform
from iostrata_lab.workload.interface import Workload

CHECKPOINT = Workload(
    name="checkpoint",
    about="ranks of an MPI program save their state: each in a file of its own, or all in one",
    stresses="a mounted file system: its clients, its metadata server, its disks",
    parameters=PARAMETERS,
    run=perform,
    check=check,
    bytes=total,
    steps=("save",),
    on_cluster=False,
    sources=(
        "IOR's N-N, N-1 segmented and N-1 strided files, as in Fig. 2 of the paper on Hadoop and "
        "HPC workloads on one file system (S4)",
    ),
)
