"""Brakes of a node: how slow its disk, its wire and its processors are made.

Disk: the kernel's throttle of block devices, on the loop device of the node, and the kernel's limit
of the pages that wait in memory for that device. Wire: a token bucket (tc-tbf) at both ends of its
veth. Processors: the quota of its cgroup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from iostrata_lab.clusters.cgroups import Controller
from iostrata_lab.clusters.errors import LabError

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmg]i?)?b", re.IGNORECASE)
LEAST_DIRTY = 1 << 20  # with less, a writer waits for single pages
PERIOD = 100_000  # µs in which a cgroup may use its quota
LEAST_CPU = 0.01  # the kernel takes no quota below 1 ms
# A bucket holds what may pass in 10 ms, and at least a packet as large as a veth passes on.
BURST_SHARE, LEAST_BURST = 100, 65536
QUEUE = "50ms"  # longest time in the queue before packets are dropped, as a switch would


@dataclass(frozen=True)
class Brake:
    """What a node may use; 0 is all there is."""

    disk: int = 0  # bytes/s read, and as many written
    disk_ops: int = 0  # requests/s read, and as many written
    dirty: int = 0  # bytes written that wait in memory for the disk; then who writes waits
    net: int = 0  # bytes/s sent, and as many received
    cpu: float = 0.0  # cores

    def __str__(self) -> str:
        parts = [
            f"disk {rate_text(self.disk)}" if self.disk else "",
            f"disk {self.disk_ops} requests/s" if self.disk_ops else "",
            f"dirty {size_text(self.dirty)}" if self.dirty else "",
            f"net {rate_text(self.net)}" if self.net else "",
            f"cpu {self.cpu:g}" if self.cpu else "",
        ]
        return ", ".join(part for part in parts if part)


def rate(text: str) -> int:
    """`20MB/s` (10⁶ bytes), `512KiB/s` (2¹⁰ bytes) or `off` as bytes/s."""
    if text == "off":
        return 0
    amount, _, unit = text.strip().lower().rpartition("/")
    value = _bytes(amount) if unit == "s" else 0
    if value < 1:
        raise LabError(f"{text!r} is no rate", "for example 20MB/s, 512KiB/s, or off")
    return value


def rate_text(value: int) -> str:
    """`20 MB/s`."""
    return f"{size_text(value)}/s"


def size(text: str) -> int:
    """`32MB` (10⁶ bytes), `32MiB` (2²⁰ bytes) or `off` as bytes."""
    if text == "off":
        return 0
    value = _bytes(text)
    if value < LEAST_DIRTY:
        raise LabError(f"{text!r} is no size of 1 MiB or more", "for example 32MB, or off")
    return value


def size_text(value: int) -> str:
    """`20 MB`."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if value >= factor:
            return f"{value / factor:.4g} {unit}"
    return f"{value} B"


def _bytes(text: str) -> int:
    """Of `32MiB`; 0 for what is no size."""
    found = SIZE.fullmatch(text.strip())
    return int(float(found[1]) * UNITS[(found[2] or "").lower()]) if found else 0


def operations(text: str) -> int:
    """`100` or `off` as requests/s."""
    if text == "off":
        return 0
    if not text.isdecimal() or int(text) < 1:
        raise LabError(f"{text!r} is no number of requests/s", "for example 100, or off")
    return int(text)


def cores(text: str) -> float:
    """`0.5` or `off` as cores."""
    if text == "off":
        return 0.0
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not LEAST_CPU <= value < 1e6:
        raise LabError(f"{text!r} is no number of cores", "for example 0.5, 0.01 or more, or off")
    return value


READERS: Mapping[str, Callable[[str], float]] = {
    "disk": rate,
    "disk_ops": operations,
    "dirty": size,
    "net": rate,
    "cpu": cores,
}


def changed(brake: Brake, texts: Mapping[str, str | None]) -> Brake:
    """`brake` with what `texts` name by field; None leaves a field as it is."""
    named = {name: text for name, text in texts.items() if text is not None}
    news: dict[str, Any] = {name: READERS[name](text) for name, text in named.items()}
    return replace(brake, **news)


def parse(text: str) -> tuple[str, Brake]:
    """`node-2:disk=20MB/s,cpu=0.5` as node and brake."""
    node, colon, rest = text.partition(":")
    known = [field.name for field in fields(Brake)]
    settings = {}
    for part in rest.split(","):
        name, equals, value = part.partition("=")
        name = name.strip().replace("-", "_")
        if not (node and colon and equals and name in known):
            raise LabError(f"{text!r} is no brake", "for example node-2:disk=20MB/s,cpu=0.5")
        settings[name] = value
    return node, changed(Brake(), settings)


def wire(interface: str, net: int) -> list[str]:
    """The command that lets an interface send `net` bytes/s; 0 takes the bucket away."""
    if not net:
        return ["tc", "qdisc", "del", "dev", interface, "root"]
    burst = max(LEAST_BURST, net // BURST_SHARE)
    bucket = ["rate", f"{net * 8}bit", "burst", f"{burst}", "latency", QUEUE]
    return ["tc", "qdisc", "replace", "dev", interface, "root", "tbf", *bucket]


def quota(controller: Controller, cpu: float) -> dict[str, str]:
    """What is written to which files of the node's group."""
    share = round(cpu * PERIOD)
    if controller.version == 2:
        return {"cpu.max": f"{share or 'max'} {PERIOD}"}
    return {"cpu.cfs_period_us": f"{PERIOD}", "cpu.cfs_quota_us": f"{share or -1}"}


def cache(dirty: int) -> dict[str, str]:
    """What is written to which files of the device among /sys/class/bdi, in this order."""
    if not dirty:
        return {"strict_limit": "0", "max_ratio": "100"}
    return {"max_bytes": f"{dirty}", "strict_limit": "1"}


def throttle(controller: Controller, device: str, brake: Brake) -> dict[str, str]:
    """What is written to which files: of the root group (version 1), of the node's (version 2).

    In version 1 what the page cache writes back is nobody's: only the root group's throttle sees
    it. A device of its own makes that the node's.
    """
    if controller.version == 2:
        rates, operations = brake.disk or "max", brake.disk_ops or "max"
        return {
            "io.max": f"{device} rbps={rates} wbps={rates} riops={operations} wiops={operations}"
        }
    limits = {"bps": brake.disk, "iops": brake.disk_ops}
    return {
        f"blkio.throttle.{way}_{unit}_device": f"{device} {limit}"
        for way in ("read", "write")
        for unit, limit in limits.items()
    }
