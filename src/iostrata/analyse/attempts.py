"""Attempts of tasks: when each ran, what it spilled, merged and fetched; stragglers among them."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import PROCESSES, SUMS, uncovered


def attempts() -> ir.Table:
    """Traced attempts in order of start: job, task, role, host, start, end, dur and worked (ns;
    null while it runs), spills, merges, fetches (calls), fetched (bytes of map outputs).

    `worked` is `dur`, but of a reduce only from the end of its job's last map on: until then it
    waits for maps, the longer the earlier it was started.
    """
    ran = PROCESSES.filter(PROCESSES.task.notnull(), PROCESSES.task != "")
    ran = ran.group_by("job", "task").agg(
        role=ran.role.min(), host=ran.host.min(), start=ran.start.min(), end=ran.end.max()
    )
    found = ran.join(_work(), "task", how="left")
    counted = {
        name: found[name].fill_null(0) for name in ("spills", "merges", "fetches", "fetched")
    }
    of_job = ibis.window(group_by="job")
    is_map, is_reduce = found.role == "map", found.role == "reduce"
    maps_end = found.end.max(where=is_map).over(of_job)
    from_then = ibis.greatest(found.start, ibis.least(maps_end, found.end))
    begin = ibis.ifelse(is_reduce & maps_end.notnull(), from_then, found.start)
    found = found.select(
        *("job", "task", "role", "host", "start", "end"),
        dur=found.end - found.start,
        worked=found.end - begin,
        **counted,
    )
    return found.order_by("start", "task")


def _work() -> ir.Table:
    rows = SUMS.filter(SUMS.layer == "task", SUMS.task.notnull(), uncovered(SUMS))

    def calls(op: str) -> ir.IntegerScalar:
        return rows["count"].sum(where=rows["op"] == op).fill_null(0).cast("int64")

    fetched = rows.bytes.sum(where=rows["op"] == "copy").fill_null(0).cast("int64")
    return rows.group_by("task").agg(
        spills=calls("spill"), merges=calls("merge"), fetches=calls("fetch"), fetched=fetched
    )


def stragglers() -> ir.Table:
    """Per job and role, of attempts that have ended: attempts, median and longest of what they
    worked (ns, as in `attempts`), slowest (its name), median_fetched and most_fetched (bytes): skew
    of what came to each.
    """
    rows = attempts()
    rows = rows.filter(rows.dur.notnull())
    by_dur = ibis.window(group_by=["job", "role"], order_by=[rows.worked, rows.task])
    by_bytes = ibis.window(group_by=["job", "role"], order_by=[rows.fetched, rows.task])
    whole = ibis.window(group_by=["job", "role"])
    rows = rows.mutate(
        place=ibis.row_number().over(by_dur),
        place_fetched=ibis.row_number().over(by_bytes),
        attempts=rows.task.count().over(whole),
    )
    # the lower of the two in the middle
    middle = ((rows.attempts - 1 - (rows.attempts - 1) % 2) / 2).cast("int64")
    rows = rows.mutate(middle=middle)
    last = rows.place == rows.attempts - 1
    return (
        rows.group_by("job", "role")
        .agg(
            attempts=rows.attempts.max(),
            median=rows.worked.max(where=rows.place == rows.middle),
            longest=rows.worked.max(),
            slowest=rows.task.max(where=last),
            median_fetched=rows.fetched.max(where=rows.place_fetched == rows.middle),
            most_fetched=rows.fetched.max(),
        )
        .order_by("job", "role")
    )
