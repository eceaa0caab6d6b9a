"""Histories of the hosts of a run, from the table `system`: one row per host and interval."""

from __future__ import annotations

from iostrata.show.report.axis import Axis
from iostrata.show.totals import Row
from iostrata.store.opened import OpenedRun

# Per history: unit, and the columns it shows. Shares are of all cores, rates per second.
_CPU = ("cpu_user", "cpu_system", "cpu_iowait")
_RATES = ("disk_read", "disk_written", "net_received", "net_sent", "net_loopback")
_LEVELS = ("mem_used", "space_used")
_TOTALS = ("mem_total", "space_total")


def hosts(opened: OpenedRun, axis: Axis) -> Row:
    """`hosts`: per host its name, `totals` in bytes, and a list of `axis.bins` values per history.

    CPU columns and disk_busy are shares (0 to 1) of what passed, rates bytes per s, levels bytes;
    null where a bin has no sample. `missing` says in a line why there are none.
    """
    if not opened.files["system"]:
        return {"missing": "hosts were not sampled in this run", "hosts": [], "more": 0}
    found: dict[str, Row] = {}
    for row in opened.rows(_SAMPLES, [axis.start, axis.width, axis.bins]):
        host = found.setdefault(row["host"], _empty(row["host"], axis.bins))
        for name, values in host["values"].items():
            values[row["bin"]] = row[name]
        host["totals"] = {name: row[name] for name in _TOTALS}
    missing = "" if found else "hosts were not sampled while this run lasted"
    return {"missing": missing, "hosts": list(found.values()), "more": 0}


def _empty(name: str, bins: int) -> Row:
    histories = (*_CPU, "disk_busy", *_RATES, *_LEVELS)
    return {"host": name, "totals": {}, "values": {h: [None] * bins for h in histories}}


_ALL_CPU = "nullif(sum(cpu_user + cpu_system + cpu_iowait + cpu_idle), 0)"
_CELLS = ", ".join(
    [
        *(f"round(sum({name}) / {_ALL_CPU}, 4) AS {name}" for name in _CPU),
        'round(sum(disk_busy) / nullif(sum("interval"), 0), 4) AS disk_busy',
        *(
            f'round(sum({name}) * 1e9 / nullif(sum("interval"), 0))::BIGINT AS {name}'
            for name in _RATES
        ),
        *(f"max({name}) AS {name}" for name in _LEVELS + _TOTALS),
    ]
)
# `time` is the begin of its interval: a sample belongs to the bin in which its middle lies.
_SAMPLES = f"""
    SELECT host, bin, {_CELLS} FROM (
        SELECT *, (time + "interval" // 2 - $1) // $2::BIGINT AS bin FROM system)
    WHERE bin >= 0 AND bin < $3 GROUP BY host, bin ORDER BY host, bin"""
