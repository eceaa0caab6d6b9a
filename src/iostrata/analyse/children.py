"""Child processes that are not traced: what the kernel says of each when it has ended, and how long
those that started them waited for their output.
"""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.account import account
from iostrata.analyse.tables import CALLS, CHILDREN, SUMS, counted_once
from iostrata.records import Bytes, Count, Ns, Record


class ChildProgram(Record, frozen=True):
    """Children that ran one program, `''` where its name is not known; `failed` of them ended with
    another exit code than 0, or by a signal.

    `lived` and `cpu` (in steps of 10 ms) are of all of them together, with the children that they
    had waited for; so are the bytes, null where the kernel said none of any. `parents` processes
    had started them, and `waited` is how long these waited for output of children, whichever.
    """

    program: str
    processes: Count
    failed: Count
    lived: Ns
    cpu: Ns
    io_read: Bytes | None
    io_written: Bytes | None
    disk_read: Bytes | None
    disk_written: Bytes | None
    parents: Count
    waited: Ns


def child_programs() -> ir.Table:
    """The `ChildProgram`s of a run, those first that had most CPU."""
    moved = ("io_read", "io_written", "disk_read", "disk_written")
    by_parent = CHILDREN.group_by("name", "parent").agg(
        processes=CHILDREN.count(),
        failed=(CHILDREN.exit != 0).sum(),
        lived=(CHILDREN.end - CHILDREN.start).sum(),
        cpu=CHILDREN.cpu.sum(),
        **{column: CHILDREN[column].sum() for column in moved},
    )
    waits = pipe_waits(SUMS.filter(SUMS.layer == "java", SUMS["op"] == "read"))
    rows = by_parent.left_join(waits, by_parent.parent == waits.proc)
    programs = rows.group_by(program=rows.name).agg(
        **{
            name: rows[name].sum().cast("int64") for name in ("processes", "failed", "lived", "cpu")
        },
        **{name: rows[name].sum().cast("int64") for name in moved},
        parents=rows.count(),
        waited=rows.waited.fill_null(0).sum().cast("int64"),
    )
    return programs.order_by(programs.cpu.desc(), programs.lived.desc(), programs.program)


def pipe_waits(reads: ir.Table) -> ir.Table:
    """Of sums of reads, per `proc` how long its longest reader `waited` for pipes of others: what
    comes from standard input is of the process that started this one.
    """
    reads = reads.filter(reads.category == "pipe", reads.proc.notnull())
    rows = account(reads, "proc", "thread", counted=counted_once)
    stdin = CALLS.filter(CALLS.layer == "java", CALLS.category == "pipe", CALLS.target == "stdin")
    rows = rows.anti_join(stdin, ["proc", "thread"])
    return rows.group_by("proc").agg(waited=rows.time.max())
