"""Control groups of a lab's nodes, in either version of the kernel's interface."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iostrata_lab.clusters.errors import LabError

MOUNTS = Path("/proc/self/mounts")
V1_NAMES = {"cpu": "cpu", "io": "blkio"}
GONE = 10.0  # seconds until the kernel has let go of a group whose processes have ended


@dataclass(frozen=True)
class Controller:
    """Where a controller is mounted, and in which version of the interface."""

    name: str  # cpu or io
    version: int
    root: Path

    def group(self, lab: str, node: str = "") -> Path:
        """The group of a lab, or of one of its nodes."""
        return self.root / f"iostrata-lab-{lab}" / node


def controllers() -> dict[str, Controller]:
    """Those of `cpu` and `io` that this machine has."""
    return found_in(MOUNTS.read_text())


def found_in(mounts: str) -> dict[str, Controller]:
    """As `controllers`, by the text of /proc/self/mounts; on a machine with both, version 1.

    A controller is in one of the hierarchies only, so the order decides nothing else.
    """
    rows = [row.split() for row in mounts.splitlines()]
    found: dict[str, Controller] = {}
    for _, place, kind, options, *_ in rows:
        for name, v1 in V1_NAMES.items():
            if kind == "cgroup" and v1 in options.split(","):
                found.setdefault(name, Controller(name, 1, Path(place)))
            elif kind == "cgroup2" and name in _offered(Path(place)):
                found.setdefault(name, Controller(name, 2, Path(place)))
    return found


def _offered(root: Path) -> list[str]:
    try:
        return (root / "cgroup.controllers").read_text().split()
    except OSError:
        return []


def groups(there: Mapping[str, Controller], lab: str, node: str) -> list[Path]:
    """The groups of a node; processes that enter them are in its brakes."""
    # The throttle of version 1 is on the device, in the root group.
    used = [one for one in there.values() if (one.name, one.version) != ("io", 1)]
    return list(dict.fromkeys(one.group(lab, node) for one in used))


def make(there: Mapping[str, Controller], lab: str, node: str) -> None:
    """Make the groups of a node."""
    for group in groups(there, lab, node):
        group.mkdir(parents=True, exist_ok=True)
    for one in there.values():
        if one.version == 2:
            for above in (one.root, one.group(lab)):
                # memory, for what the page cache writes back is charged to whose page it is
                write(above, {"cgroup.subtree_control": f"+{one.name} +memory"})


def entering(groups: Sequence[Path], argv: Sequence[str]) -> list[str]:
    """The command line that enters `groups` and becomes `argv`."""
    words = list(argv)
    for group in groups:
        script = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
        words = ["sh", "-c", script, str(group), *words]
    return words


def write(group: Path, settings: Mapping[str, str]) -> None:
    """Write each value to its file in a group. Raises LabError with the kernel's reason."""
    for name, value in settings.items():
        try:
            (group / name).write_text(value)
        except OSError as error:
            raise LabError(
                f"{group / name} does not take {value!r}: {error.strerror}",
                "is this a container? The brake needs the machine's own cgroups",
            ) from error


def remove(there: Iterable[Controller], lab: str) -> None:
    """Remove the groups of a lab and of its nodes; their processes have ended."""
    deadline = time.monotonic() + GONE
    for controller in there:
        group = controller.group(lab)
        while group.is_dir():
            for child in [*(entry for entry in group.iterdir() if entry.is_dir()), group]:
                with suppress(OSError):
                    child.rmdir()
            if time.monotonic() > deadline:
                raise LabError(f"{group} cannot be removed", "end the processes in it")
            time.sleep(0.01)
