"""Histories of the hosts: what the kernel counted for each of them while the run was recorded."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.exact import quotient
from iostrata.analyse.tables import SYSTEM
from iostrata.records import Bytes, Count, Ns, Rate, Record, Share

_CPU = ("cpu_user", "cpu_system", "cpu_iowait", "cpu_idle")
_RATES = ("disk_read", "disk_written", "net_received", "net_sent", "net_loopback")
_PRESSURE = ("cpu_pressure", "memory_pressure", "io_pressure")
_OF_TIME = ("disk_busy", *_PRESSURE)
_LONG = 500_000_000  # ns; clocks tick 100 times a second, so a shorter sample says little
_LEVELS = ("cores", "mem_used", "mem_total", "space_used", "space_total")


class HostBin(Record, frozen=True):
    """What a host did in a bin of the time axis (from 0), of which `sampled` ns have samples.

    Shares of the CPU are of the time of all cores, and together 1; that of the disks is of the
    busiest; those of pressure are of the time, in which some thread was stalled for it. Levels are
    the most of the bin. Shares and rates are null where no time passed, or nobody counted.
    """

    host: str
    bin: int
    sampled: Ns
    cpu_user: Share | None
    cpu_system: Share | None
    cpu_iowait: Share | None
    cpu_idle: Share | None
    disk_busy: Share | None
    cpu_pressure: Share | None
    memory_pressure: Share | None
    io_pressure: Share | None
    disk_read: Rate | None
    disk_written: Rate | None
    net_received: Rate | None
    net_sent: Rate | None
    net_loopback: Rate | None
    cores: Count | None
    mem_used: Bytes | None
    mem_total: Bytes | None
    space_used: Bytes | None
    space_total: Bytes | None


class HostTotal(Record, frozen=True):
    """What a host did while the run was recorded; shares are of the time of all its cores, and
    `cpu_max` is the most of a sample that is long enough for its clock.
    """

    host: str | None
    interval: Ns
    cpu: Share
    cpu_max: Share
    iowait: Share
    disk_read: Bytes
    disk_written: Bytes
    net_received: Bytes
    net_sent: Bytes
    net_loopback: Bytes


def host_totals() -> ir.Table:
    """A `HostTotal` of each host."""
    rows = SYSTEM.filter(SYSTEM.interval > 0, SYSTEM.cores > 0)
    rows = rows.mutate(
        used=rows.cpu_user + rows.cpu_system,
        available=rows.cores.cast("int64") * rows.interval,
    )
    busy = rows.used / rows.available
    return (
        rows.group_by("host")
        .agg(
            interval=rows.interval.sum().cast("int64"),
            cpu=rows.used.sum() / rows.available.sum(),
            cpu_max=ibis.coalesce(busy.max(where=rows.interval >= _LONG), busy.max()),
            iowait=rows.cpu_iowait.sum() / rows.available.sum(),
            **{name: rows[name].sum().cast("int64") for name in _RATES},
        )
        .order_by("host")
    )


def hosts(start: int, width: int) -> ir.Table:
    """Per host and bin of `width` ns from `start` (ns since the epoch) a `HostBin`. A sample
    belongs to the bin in which its middle lies; a bin without samples has no row.
    """
    rows = SYSTEM.mutate(middle=SYSTEM.time + quotient(SYSTEM.interval, 2) - start)
    rows = rows.filter(rows.middle >= 0)
    rows = rows.mutate(bin=quotient(rows.middle, width))
    found = rows.group_by("host", "bin").agg(
        sampled=rows.interval.sum().cast("int64"),
        passed=sum((rows[name] for name in _CPU[1:]), start=rows[_CPU[0]]).sum().cast("int64"),
        **{name: rows[name].sum().cast("int64") for name in (*_CPU, *_OF_TIME, *_RATES)},
        **{name: rows[name].max() for name in _LEVELS},
    )
    seconds = found.sampled.nullif(0).cast("float64") / 1e9  # in SQL 1e9 alone is a decimal
    return found.select(
        "host",
        "bin",
        "sampled",
        **{name: found[name] / found.passed.nullif(0) for name in _CPU},
        **{name: found[name] / found.sampled.nullif(0) for name in _OF_TIME},
        **{name: found[name] / seconds for name in _RATES},
        **{name: found[name] for name in _LEVELS},
    ).order_by("host", "bin")
