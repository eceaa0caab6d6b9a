"""A cgroup (v1) of a test's own, in which its programs get less than the machine has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.serving import wait_until

CPU, MEMORY = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup/memory")


def removed(group: Path) -> bool:
    """Whether the group could be removed: the kernel alone knows when the last process has left.

    `cgroup.procs` can be empty while a killed process is still on its way into the group (it wrote
    its pid there and waits for a lock of the kernel): of 150 groups whose programs were killed, 2
    were busy after nothing stood in it.
    """
    try:
        group.rmdir()
    except OSError:
        return False
    return True


@contextmanager
def cgroup(controller: Path) -> Iterator[Path]:
    """A group of the controller; gone afterwards, when its processes are."""
    group = controller / f"iostrata-{os.getpid()}"
    group.mkdir()
    try:
        yield group
    finally:
        wait_until(lambda: removed(group))
