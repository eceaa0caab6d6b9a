"""Histories of the hosts: what the kernel counted for each of them while the run was recorded."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.exact import quotient
from iostrata.analyse.tables import SYSTEM

_CPU = ("cpu_user", "cpu_system", "cpu_iowait", "cpu_idle")
_RATES = ("disk_read", "disk_written", "net_received", "net_sent", "net_loopback")
_LEVELS = ("cores", "mem_used", "mem_total", "space_used", "space_total")


def hosts(start: int, width: int) -> ir.Table:
    """Per host and bin of `width` ns from `start` (ns since the epoch): host, bin (from 0), sampled
    (ns), cpu_user, cpu_system, cpu_iowait, cpu_idle (shares of the time of all cores, together 1),
    disk_busy (share of the time, of the busiest disk), disk_read, disk_written, net_received,
    net_sent, net_loopback (bytes a second), cores, mem_used, mem_total, space_used, space_total
    (bytes, the most).

    A sample belongs to the bin in which its middle lies; shares and rates are null where no time
    passed, and a bin without samples has no row.
    """
    rows = SYSTEM.mutate(middle=SYSTEM.time + quotient(SYSTEM.interval, 2) - start)
    rows = rows.filter(rows.middle >= 0)
    rows = rows.mutate(bin=quotient(rows.middle, width))
    found = rows.group_by("host", "bin").agg(
        sampled=rows.interval.sum().cast("int64"),
        passed=sum((rows[name] for name in _CPU[1:]), start=rows[_CPU[0]]).sum().cast("int64"),
        **{name: rows[name].sum().cast("int64") for name in (*_CPU, "disk_busy", *_RATES)},
        **{name: rows[name].max() for name in _LEVELS},
    )
    seconds = found.sampled.nullif(0).cast("float64") / 1e9  # in SQL 1e9 alone is a decimal
    return found.select(
        "host",
        "bin",
        "sampled",
        **{name: found[name] / found.passed.nullif(0) for name in _CPU},
        disk_busy=found.disk_busy / found.sampled.nullif(0),
        **{name: found[name] / seconds for name in _RATES},
        **{name: found[name] for name in _LEVELS},
    ).order_by("host", "bin")
