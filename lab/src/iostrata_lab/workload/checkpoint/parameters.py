"""What may be asked of a checkpoint."""

from __future__ import annotations

from iostrata.errors import UserError
from iostrata_lab.workload.checkpoint.tools import launcher, writer
from iostrata_lab.workload.interface import Context
from iostrata_lab.workload.parameters import BYTES, Parameter

PARAMETERS = (
    Parameter("ranks", "of the program", 4, "ranks", low=1, high=4096),
    Parameter(
        "pattern",
        "n-n: a file for each rank; segmented and strided: one file, in which ranks have blocks "
        "or take turns",
        "n-n",
        choices=("n-n", "segmented", "strided"),
    ),
    Parameter("block", "in a row, of a rank", 16 << 20, BYTES, low=1, high=1 << 40, scaled=True),
    Parameter("transfer", "of one write", 1 << 20, BYTES, low=1, high=1 << 30),
    Parameter("segments", "blocks of each rank", 1, "blocks", low=1, high=1 << 20),
    Parameter("checkpoints", "how often it saves its state", 3, "times", low=1, high=100_000),
    Parameter("kept", "files of the last ones stay until the end", 2, "times", low=1, high=100_000),
    Parameter("pause", "between two, in which it computes", 0.0, "s", low=0, high=86_400),
    Parameter("fsync", "wait for the disks before a file is closed", True),
    Parameter("api", "how it writes", "posix", choices=("posix", "mpiio")),
    Parameter("collective", "by MPI-IO: all ranks in one call", False),
    Parameter("restart", "read the last one back, another rank's part each, and compare", False),
    Parameter(
        "program",
        "auto: IOR where it is on the PATH, else ours",
        "auto",
        choices=("auto", "ior", "mpi4py"),
    ),
)


def total(context: Context) -> int:
    """Bytes in files at the most."""
    saved = context.number("ranks") * context.number("block") * context.number("segments")
    return saved * min(context.number("checkpoints"), context.number("kept") + 1)


def check(context: Context) -> None:
    """Raises UserError for what does not go together, and for programs that are not there."""
    block, transfer = context.number("block"), context.number("transfer")
    if block % transfer:
        raise UserError(
            f"block={block} is no multiple of transfer={transfer}", "say one that is, in bytes"
        )
    if context.truth("collective") and context.text("api") != "mpiio":
        raise UserError("collective=true needs api=mpiio", "--set api=mpiio")
    if context.truth("collective") and context.text("pattern") == "n-n":
        raise UserError(
            "collective=true: ranks with files of their own have none together",
            "--set pattern=segmented",
        )
    launcher(writer(context))
