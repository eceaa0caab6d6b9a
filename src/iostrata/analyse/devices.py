"""What block devices did while the run was recorded, by the kernel's statistics of each.

They are whole devices, and say nothing of whose requests these were.
"""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import DEVICES
from iostrata.records import Bytes, Count, Ns, Record


class DeviceTotal(Record, frozen=True):
    """A device that the host has mounted at `mount`, over an `interval`: requests that ended, their
    bytes, how long one was under way at least (`busy`), and how long all of them took together
    (`waited`), from their arrival at the device. What a cgroup holds back has not arrived.
    """

    host: str | None
    device: str
    mount: str
    interval: Ns
    reads: Count
    writes: Count
    bytes_read: Bytes
    bytes_written: Bytes
    busy: Ns
    waited: Ns

    @property
    def share(self) -> float:
        """Part of the time in which it was busy."""
        return self.busy / self.interval if self.interval else 0.0

    @property
    def time(self) -> int | None:
        """ns of a request, the mean; None without any."""
        requests = self.reads + self.writes
        return round(self.waited / requests) if requests else None


def device_totals() -> ir.Table:
    """A `DeviceTotal` of each device, the busiest first."""
    found = DEVICES.group_by("host", "device", "mount").agg(
        interval=DEVICES.interval.sum().cast("int64"),
        reads=DEVICES.reads.sum().cast("int64"),
        writes=DEVICES.writes.sum().cast("int64"),
        bytes_read=DEVICES["read"].sum().cast("int64"),
        bytes_written=DEVICES["written"].sum().cast("int64"),
        busy=DEVICES.busy.sum().cast("int64"),
        waited=DEVICES.waited.sum().cast("int64"),
    )
    return found.order_by(ibis.desc("busy"), "host", "device")
