"""Programs that a checkpoint needs: mpiexec, and IOR or mpi4py."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

from iostrata.errors import UserError
from iostrata_lab.workload.interface import Context

_HOW = "pip install mpi4py mpich, or the MPI of this system"


def launcher(program: str) -> str:
    """mpiexec beside this Python for mpi4py, of which each has an MPI of its own; else that of the
    PATH. Raises UserError when there is none.
    """
    beside = Path(sys.executable).with_name("mpiexec")
    own = str(beside) if beside.is_file() else None
    there = shutil.which("mpiexec")
    found = own or there if program == "mpi4py" else there or own
    if found is None:
        raise UserError("mpiexec is not on the PATH", _HOW)
    return found


def writer(context: Context) -> str:
    """`ior` or `mpi4py`; raises UserError when what was asked for is not there."""
    wanted = context.text("program")
    if wanted in ("auto", "ior") and shutil.which("ior"):
        return "ior"
    if wanted == "ior":
        raise UserError("ior is not on the PATH", "build IOR, or --set program=mpi4py")
    if importlib.util.find_spec("mpi4py") is None:
        raise UserError("mpi4py is not installed", _HOW)
    return "mpi4py"
