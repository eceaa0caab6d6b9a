"""Totals of sums, which lose nothing: by layer, operation, task, category and host.

Calls and times leave out what is nested in a call of the same layer, bytes what an enclosing call
of the same layer and operation counts, too. Times are summed over threads.
"""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.account import Counted, account
from iostrata.analyse.tables import PAUSES, SUMS, outer
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.schema.directions import BYTES_COLUMN


class Total(Record, frozen=True):
    """What sums add up to. `time` is `estimated` where clocks were sampled: 99 of 100 estimates are
    closer to the truth than `time_bound`.
    """

    calls: Count
    bytes_read: Bytes
    bytes_written: Bytes
    bytes_received: Bytes
    bytes_sent: Bytes
    time: Ns
    time_bound: Ns
    estimated: bool
    errors: Count


class LayerTotal(Total, frozen=True):
    """A layer."""

    layer: str


class OperationTotal(LayerTotal, frozen=True):
    """An operation of a layer; what is `nested` in a call of its layer has a row of its own.

    `bytes` are all that calls counted, also those that an enclosing call counts, too.
    """

    op: str
    nested: bool
    bytes: Bytes


class TaskTotal(LayerTotal, frozen=True):
    """What a layer did for a task, or for a job outside of its tasks."""

    job: str | None
    task: str | None


class JobTotal(LayerTotal, frozen=True):
    """What a layer did on a host for a job, '' for none."""

    host: str
    job: str


class CategoryTotal(LayerTotal, frozen=True):
    """What a layer did with targets of a category."""

    category: str | None


class PhaseTotal(LayerTotal, frozen=True):
    """What a layer did in a phase of tasks."""

    phase: str


class RoleTotal(LayerTotal, frozen=True):
    """What an operation did in processes of a role, '' for those without."""

    role: str
    op: str


class Pauses(Record, frozen=True):
    """Pauses of whole JVMs, which are no I/O: `max` is the longest."""

    op: str
    processes: Count
    count: Count
    time: Ns
    max: Ns | None


def totals(rows: ir.Table, *keys: str, counted: Counted = outer) -> ir.Table:
    """Of sums, per `keys`, a `Total`."""
    return account(rows, *keys, counted=counted).drop("bytes").rename(_COLUMNS)


_COLUMNS = {column: direction for direction, column in BYTES_COLUMN.items()}


def _every(_: ir.Table) -> ir.BooleanValue:
    return ibis.literal(True)


def by_layer() -> ir.Table:
    """A `LayerTotal` of each layer that was called."""
    return totals(SUMS, "layer")


def by_operation() -> ir.Table:
    """`OperationTotal`s, those that took longest first."""
    rows = SUMS.mutate(nested=~outer(SUMS))
    found = account(rows, "layer", "op", "nested", counted=_every, moved=_every)
    return found.rename(_COLUMNS).order_by(ibis.desc("time"), "op", "nested")


def by_task() -> ir.Table:
    """`TaskTotal`s of all that was done for a job or task."""
    rows = SUMS.filter(ibis.coalesce(SUMS.job, SUMS.task, "") != "")
    return totals(rows, "job", "task", "layer").order_by("job", "task", "layer")


def by_category() -> ir.Table:
    """`CategoryTotal`s."""
    return totals(SUMS, "layer", "category")


def by_phase() -> ir.Table:
    """`PhaseTotal`s."""
    return totals(SUMS.filter(SUMS.phase != ""), "phase", "layer")


def by_role() -> ir.Table:
    """`RoleTotal`s of all operations that took time."""
    rows = SUMS.mutate(role=SUMS.role.fill_null(""))
    found = totals(rows, "role", "layer", "op")
    return found.filter(found.time > 0)


def by_host() -> ir.Table:
    """Each `JobTotal`."""
    rows = SUMS.mutate(host=SUMS.host.fill_null(""), job=SUMS.job.fill_null(""))
    return totals(rows, "host", "layer", "job").order_by("host", "layer", "job")


def pauses() -> ir.Table:
    """`Pauses` of each kind."""
    rows = PAUSES.filter(PAUSES.kind == "sum")
    found = rows.group_by("op").agg(
        processes=rows.proc.nunique(),
        count=rows["count"].sum().cast("int64"),
        time=rows.timed_dur.sum().cast("int64"),
        max=rows["max"].max(),
    )
    return found.order_by("op")
