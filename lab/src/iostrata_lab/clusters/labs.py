"""All labs of this user, each as what it runs."""

from __future__ import annotations

from iostrata.registry import Registry
from iostrata_lab.clusters import state
from iostrata_lab.clusters.cephfs import CEPHFS
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop.lab import HadoopLab
from iostrata_lab.clusters.hadoop.system import HADOOP
from iostrata_lab.clusters.lab import Lab
from iostrata_lab.clusters.moosefs import MOOSEFS
from iostrata_lab.clusters.state import State
from iostrata_lab.clusters.systems import System

SYSTEMS = Registry[System]("system", (HADOOP, MOOSEFS, CEPHFS))


def _lab(known: State) -> Lab:
    system = SYSTEMS.named(known.system)
    return HadoopLab(known, system) if known.java_home else Lab(known, system)


def list_labs() -> list[Lab]:
    """All labs with a directory, running or not, by name."""
    found = (state.load(name) for name in state.names())
    return [_lab(known) for known in found if known is not None]


def find(name: str | None = None) -> Lab:
    """The lab of that name, or the one running (the last started of several).

    Raises LabError if there is none.
    """
    if name is not None:
        known = state.load(name)
        if known is not None:
            return _lab(known)
        raise LabError(f"no lab {name!r}", f"there is: {', '.join(state.names()) or 'none'}")
    running = [lab for lab in list_labs() if lab.running]
    if not running:
        left = "".join(f", or remove the rest: iostrata lab down {name}" for name in state.names())
        raise LabError("no lab is running", f"start one: iostrata lab up hadoop{left}")
    return max(running, key=lambda lab: lab.state.ready)


def find_hadoop(name: str | None = None) -> HadoopLab:
    """As `find`, a lab that runs Hadoop; raises LabError for another one, too."""
    lab = find(name)
    if not isinstance(lab, HadoopLab):
        raise LabError(f"lab {lab.name} runs {lab.system.name}", "name one of Hadoop: --lab NAME")
    return lab
