"""Histories of the hosts of a run, in bins of the axis."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from iostrata.analyse.axis import Axis
from iostrata.analyse.hosts import HostBin
from iostrata.show.report.model import Histories, Host, Hosts, HostSizes

_PRESSURE = ("cpu_pressure", "memory_pressure", "io_pressure")
_SHARES = ("cpu_user", "cpu_system", "cpu_iowait", "disk_busy", *_PRESSURE)


def hosts(samples: Sequence[HostBin], axis: Axis, sampled: bool) -> Hosts:
    """The history of each host; `sampled`: the run has a table of samples."""
    if not sampled:
        return Hosts("hosts were not sampled in this run", [], 0)
    bins: dict[str, dict[int, HostBin]] = {}
    for sample in samples:
        if sample.bin < axis.bins:
            bins.setdefault(sample.host, {})[sample.bin] = sample
    missing = "" if bins else "hosts were not sampled while this run lasted"
    return Hosts(missing, [_host(name, of_host, axis) for name, of_host in bins.items()], 0)


def _host(name: str, bins: dict[int, HostBin], axis: Axis) -> Host:
    last = bins[max(bins)]
    values = {
        history: [_rounded(bins.get(place), history) for place in range(axis.bins)]
        for history in Histories.__struct_fields__
    }
    totals = HostSizes(last.mem_total, last.space_total)
    return Host(name, totals, msgspec.convert(values, Histories))


def _rounded(sample: HostBin | None, history: str) -> float | None:
    """Shares to four places, rates to whole bytes: a page draws no more."""
    value: float | None = getattr(sample, history, None)
    if value is None:
        return None
    return round(value, 4) if history in _SHARES else round(value)
