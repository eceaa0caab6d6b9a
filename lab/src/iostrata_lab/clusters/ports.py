"""Loopback ports for daemons whose port must be in a file before they start."""

from __future__ import annotations

import random
import socket
from collections.abc import Collection
from itertools import islice
from pathlib import Path

from iostrata_lab.clusters.errors import LabError

RANGE = range(20000, 60000)
EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free(port: int) -> bool:
    """True if a server could listen on 127.0.0.1:`port` now."""
    with socket.socket() as probe:
        # As Hadoop's servers do: connections in TIME_WAIT do not block a listener.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def candidates() -> list[int]:
    """Ports outside the kernel's range for outgoing connections, which take ports at random."""
    low, high = 0, 0
    if EPHEMERAL.exists():
        low, high = (int(word) for word in EPHEMERAL.read_text().split())
    return [port for port in RANGE if not low <= port <= high] or list(RANGE)


def pick(names: Collection[str], taken: Collection[int]) -> dict[str, int]:
    """A free port for each name, none of them in `taken` (the ports of other labs)."""
    ports = candidates()
    random.shuffle(ports)
    usable = (port for port in ports if port not in taken and free(port))
    found = list(islice(usable, len(names)))
    if len(found) < len(names):
        raise LabError(
            f"no {len(names)} free ports on 127.0.0.1 between {min(ports)} and {max(ports)}",
            "end labs that are no longer needed: iostrata lab down NAME",
        )
    return dict(zip(names, found, strict=True))
