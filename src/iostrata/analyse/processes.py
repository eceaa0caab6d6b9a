"""The processes of a run, whether they were traced, and what they lost."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import PROCESSES
from iostrata.records import Bytes, Count, EpochNs, Ns, Record


class Process(Record, frozen=True):
    """A process that a collector saw: why it was not traced, what it counted, what tracing took.

    `dropped` calls are in sums alone, `collapsed` ones in sums without task and category, `lost` in
    none; `rejected` are segments and names that could not be made. `start` to `part` are
    as in [process_columns] of schema/events.toml; null where kernel and JVM did not say.
    """

    host: str | None
    role: str | None
    pid: int | None
    main: str | None
    job: str | None
    task: str | None
    traced: bool
    reason: str
    agent: str | None
    jvm: str | None
    exit: str | None
    calls: Count | None
    detail: Count | None
    dropped: Count | None
    collapsed: Count | None
    lost: Count | None
    rejected: Count | None
    cpu: Ns | None
    cost: Ns | None
    cost_collector: Ns | None
    over: Ns | None
    summed: str | None
    start: EpochNs | None
    end: EpochNs | None
    io_read: Bytes | None
    io_written: Bytes | None
    disk_read: Bytes | None
    disk_written: Bytes | None
    traced_read: Bytes | None
    traced_written: Bytes | None
    mapped: Bytes | None
    native: str | None
    cpu_jvm: Ns | None
    cpu_compilers: Ns | None
    queued: Ns | None
    throttled: Ns | None
    cpu_start: Ns | None
    class_loading: Ns | None
    part: str | None


def processes() -> ir.Table:
    """All `Process`es, those first that were not traced."""
    rows = PROCESSES.mutate(
        reason=PROCESSES.reason.fill_null(""), cost=PROCESSES.cost_hooks + PROCESSES.cost_thread
    )
    return rows.order_by("traced", "role", "host", "pid").select(*Process.__struct_fields__)
