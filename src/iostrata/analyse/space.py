"""Space that jobs use: bytes of the files that they write, until these are deleted.

docs/decisions/0030-used-space-from-names.md says what can be known, and what is taken for granted.
"""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.engine import Engine
from iostrata.analyse.lifetimes import (
    HDFS,
    LOCAL,
    Level,
    Owner,
    PathChange,
    Stored,
    levels,
    lifetimes,
)
from iostrata.analyse.tables import CALLS, PROCESSES, SUMS, counted_once
from iostrata.records import Bytes, EpochNs, Record
from iostrata.schema.directions import DIRECTIONS
from iostrata.schema.points import POINTS
from iostrata.schema.roles import SERVERS

MOST_NAMES = 20_000
# Categories of local files; blocks of HDFS are counted where a client writes them.
_FILES = (
    *("file", "log", "spill", "shuffle", "output", "input", "config"),
    *("jars", "classes", "properties", "xml"),
)
_CHANGES = ("delete", "rename", "create")
# Their file is the one that is written.
_COPIES = [point.id for point in POINTS if point.method in ("sendfile", "copy_file_range")]
_KEYS = ("job", "role", "proc", "layer", "category")


class WrittenBytes(Record, frozen=True):
    """Bytes that a process wrote to files of a category from `begin` until `end`; in HDFS of layer
    `fs`, one copy, to other files of layer `java` or `posix`.
    """

    job: str | None
    role: str | None
    proc: int | None
    layer: str
    category: str
    bytes: Bytes
    begin: EpochNs
    end: EpochNs


class WrittenFile(Record, frozen=True):
    """Likewise to one file whose name is known."""

    job: str | None
    role: str | None
    proc: int | None
    layer: str
    category: str
    target: str
    bytes: Bytes
    begin: EpochNs
    end: EpochNs


class NameChange(Record, frozen=True):
    """A call of `op` (delete, rename or create) on a path that succeeded; `at`: its end."""

    layer: str
    op: str
    target: str
    at: EpochNs


class OwnerEnd(Record, frozen=True):
    """When the last traced process of a job, or of a role of no job, ended; null: it has not."""

    job: str | None
    role: str | None
    end: EpochNs | None


class JobSpace(Record, frozen=True):
    """Space that the files of a job used; of processes of no job by role, servers left out.

    `most` is the most at a time, reached at `most_at`, and `left` what was not deleted while the
    run recorded. `temporary` is the most at a time of files that were deleted, or go with the job
    by their kind. Of what was `written`, `hdfs` bytes are in HDFS, one copy, and of `unnamed` bytes
    only the kind of file is known.
    """

    job: str | None
    role: str | None
    written: Bytes
    hdfs: Bytes
    most: Bytes
    most_at: EpochNs
    temporary: Bytes
    left: Bytes
    unnamed: Bytes


def written_bytes() -> ir.Table:
    """All `WrittenBytes` of a run."""
    rows = _stored(SUMS)
    found = rows.group_by(*_KEYS).agg(**_growth(rows))
    return found.order_by(*_KEYS)


def written_files() -> ir.Table:
    """The `WrittenFile`s that have most bytes; of the bytes of all others, only the kind of file
    is known.
    """
    columns = (*_KEYS, "target", "bytes", "start", "dur")
    rows = _stored(SUMS).select(*columns).union(_stored(CALLS).select(*columns))
    rows = rows.filter(rows.target.notnull(), rows.target != "")
    found = rows.group_by(*_KEYS, "target").agg(**_growth(rows))
    return found.order_by(found.bytes.desc(), "target", "proc").limit(MOST_NAMES)


def name_changes() -> ir.Table:
    """The `NameChange`s of a run, whoever made them."""

    def of(table: ir.Table) -> ir.Table:
        chosen = table.filter(
            table.layer.isin(["hdfs", "java", "posix"]),
            table["op"].isin(_CHANGES),
            table.target.notnull(),
        )
        return chosen.mutate(at=chosen.start + chosen.dur.fill_null(0))

    calls, sums = of(CALLS), of(SUMS)
    calls = calls.filter(calls.error.isnull())
    sums = sums.filter(sums.errors.fill_null(0) < sums["count"])
    names = ("layer", "op", "target", "at")
    return calls.select(*names).union(sums.select(*names)).order_by("at", "target", "op")


def owner_ends() -> ir.Table:
    """An `OwnerEnd` of each job, and of each role without one."""
    rows = _owned(PROCESSES.filter(PROCESSES.traced))
    found = rows.group_by("job", "role").agg(
        end=ibis.ifelse(rows.end.isnull().any(), ibis.null("int64"), rows.end.max())
    )
    return found.order_by("job", "role")


def job_spaces(engine: Engine) -> list[JobSpace]:
    """The `JobSpace`s of a run, those first that used most."""
    files = stored_files(engine)
    spaces = [_space(owner, files[owner]) for owner in files]
    return sorted(spaces, key=lambda space: (-space.most, space.job or "", space.role or ""))


def space_levels(engine: Engine) -> dict[Owner, list[Level]]:
    """Levels of the used space of each job, or role."""
    return {owner: levels(files) for owner, files in stored_files(engine).items()}


def stored_files(engine: Engine) -> dict[Owner, list[Stored]]:
    """What each job, or role of no job, stored: named files, and the rest by kind."""
    named = engine.records(written_files, WrittenFile)
    whole = engine.records(written_bytes, WrittenBytes)
    changes = map(_change, engine.records(name_changes, NameChange))
    ends = {(row.job, row.role): row.end for row in engine.records(owner_ends, OwnerEnd)}
    made = [_of_file(row) for row in named] + [_of_rest(row) for row in _rest(whole, named)]
    found: dict[Owner, list[Stored]] = {}
    for stored in lifetimes(made, changes, ends):
        found.setdefault(stored.owner, []).append(stored)
    return found


def _space(owner: Owner, files: list[Stored]) -> JobSpace:
    steps = levels(files)
    highest = max(steps, key=lambda step: step.temporary + step.permanent)
    return JobSpace(
        *owner,
        written=sum(each.bytes for each in files),
        hdfs=sum(each.bytes for each in files if each.place == HDFS),
        most=highest.temporary + highest.permanent,
        most_at=highest.at,
        temporary=max(step.temporary for step in steps),
        left=steps[-1].temporary + steps[-1].permanent,
        unnamed=sum(each.bytes for each in files if not each.path),
    )


def _change(row: NameChange) -> PathChange:
    """A rename of layer `posix` has the new name, and what was there is gone."""
    op = "create" if (row.layer, row.op) == ("posix", "rename") else row.op
    return PathChange(HDFS if row.layer == "hdfs" else LOCAL, op, row.target, row.at)


def _of_file(row: WrittenFile) -> Stored:
    place = HDFS if row.layer == "fs" else LOCAL
    owner = (row.job, row.role)
    return Stored(owner, place, row.category, row.target, row.bytes, row.begin, row.end)


def _of_rest(row: WrittenBytes) -> Stored:
    place = HDFS if row.layer == "fs" else LOCAL
    return Stored((row.job, row.role), place, row.category, "", row.bytes, row.begin, row.end)


def _rest(whole: list[WrittenBytes], named: list[WrittenFile]) -> list[WrittenBytes]:
    """What is left of all bytes without those of named files."""
    known: dict[tuple[str | int | None, ...], int] = {}
    for row in named:
        key = (row.job, row.role, row.proc, row.layer, row.category)
        known[key] = known.get(key, 0) + row.bytes
    left = []
    for every in whole:
        key = (every.job, every.role, every.proc, every.layer, every.category)
        rest = every.bytes - known.get(key, 0)
        if rest > 0:
            values = {name: getattr(every, name) for name in every.__struct_fields__}
            left.append(WrittenBytes(**values | {"bytes": rest}))
    return left


def _stored(table: ir.Table) -> ir.Table:
    """Rows of writes to files, but not by servers, with the job or the role."""
    local = table.layer.isin(["java", "posix"]) & table["op"].isin(DIRECTIONS["written"])
    local |= table.point.isin(_COPIES)
    local &= table.category.isin(_FILES)
    remote = (table.layer == "fs") & (table["op"] == "write") & (table.category == "hdfs")
    servers = table.role.fill_null("").isin(SERVERS)
    return _owned(
        table.filter(
            local | remote, counted_once(table), ~servers, table.bytes > 0, table.start.notnull()
        )
    )


def _owned(table: ir.Table) -> ir.Table:
    """With the role only where there is no job."""
    of_job = table.job.fill_null("") != ""
    job = ibis.ifelse(of_job, table.job, ibis.null("string"))
    return table.mutate(job=job, role=ibis.ifelse(of_job, ibis.null("string"), table.role))


def _growth(rows: ir.Table) -> dict[str, ir.IntegerScalar]:
    return {
        "bytes": rows.bytes.sum().cast("int64"),
        "begin": rows.start.min(),
        "end": (rows.start + rows.dur.fill_null(0)).max(),
    }
