"""What an export writes: the chosen calls of a run, in order, some thousand in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.only_summed import OnlySummed, only_summed
from iostrata.progress import Progress, silent
from iostrata.records import Bytes, Count, EpochNs, Ns, Record, records
from iostrata.schema.events import FLAG
from iostrata.show.export.selection import Selection
from iostrata.store.opened import OpenedRun


class CallOrder(StrEnum):
    """Thread after thread, where enclosing calls come first; or all by their begin."""

    threads = "host, proc, tid, start, dur DESC, span"
    time = "start, dur DESC, host, proc, tid, span"


class Call(NamedTuple):
    """A call; `start` and `dur` in ns, `finished` unless its process died in it.

    `caused`: what caused it is another call here, of another thread; for `waited` ns until this one
    took it up. `effects`: (proc, span) of what it caused in other threads.
    """

    host: str
    proc: int
    role: str
    pid: int
    tid: int
    thread: str
    start: int
    dur: int
    layer: str
    op: str
    category: str | None
    target: str | None
    block: int | None
    peer: str | None
    offset: int | None
    bytes: int | None
    asked: int | None
    error: str | None
    span: int
    parent: int | None
    parent_proc: int
    trace: int
    job: str | None
    task: str | None
    phase: str | None
    inner: bool
    finished: bool
    caused: bool
    waited: int | None
    effects: list[list[int]] | None

    @property
    def name(self) -> str:
        """Layer and operation."""
        return f"{self.layer}.{self.op}"

    @property
    def end(self) -> int:
        """When it returned, in ns."""
        return self.start + self.dur

    def facts(self) -> Iterator[tuple[str, str | int]]:
        """What is known of it beyond name, times and place, by the names of columns."""
        for name in _FACTS:
            value = getattr(self, name)
            if value is not None:
                yield name, value
        if self.inner:
            yield "inner", "true"
        if not self.finished:
            yield "unfinished", "true"


class ThreadId(Record, frozen=True):
    """A thread that has calls."""

    host: str
    proc: int
    pid: int
    tid: int


class ProcessName(Record, frozen=True):
    """What ran in a process, and in which container."""

    proc: int | None
    main: str | None
    container: str | None


class HostSecond(Record, frozen=True):
    """A row of the table `system`: times of all cores together, `disk_busy` of the busiest disk."""

    host: str | None
    time: EpochNs
    interval: Ns
    cores: Count
    cpu_user: Ns
    cpu_system: Ns
    cpu_iowait: Ns
    disk_busy: Ns
    disk_read: Bytes
    disk_written: Bytes
    net_received: Bytes
    net_sent: Bytes
    net_loopback: Bytes
    mem_used: Bytes
    space_used: Bytes


class Source:
    """The calls that `selection` leaves of a run; says how many were read as the step "export".

    With `pauses`, those of whole JVMs are calls, too.
    """

    def __init__(
        self,
        opened: OpenedRun,
        selection: Selection,
        pauses: bool = False,
        progress: Progress = silent,
    ) -> None:
        self.opened = opened
        self.run = opened.run
        self.selection = selection
        self._pauses = pauses or "jvm" in selection.layers
        self._progress = progress
        self.start: int = self.run.start or self._first()

    @cached_property
    def count(self) -> int:
        """How many calls (or rows of the table) are chosen."""
        where, parameters = self._where()
        rows = self.opened.rows(f"SELECT count(*) AS n FROM {self._table()} {where}", parameters)
        return int(rows[0]["n"])

    def rows(self, columns: list[str]) -> Iterator[tuple[Any, ...]]:
        """The chosen rows of any table, as they are stored."""
        where, parameters = self._where()
        cells = ", ".join(f'"{column}"' for column in columns)
        yield from self._counted(f"SELECT {cells} FROM {self._table()} {where}", parameters)

    def calls(self, order: CallOrder, causes: bool = True) -> Iterator[Call]:
        """The chosen calls; without `causes` none is `caused`, `waited` or has `effects`."""
        where, parameters = self._where()
        sql = (_CAUSES if causes else _PLAIN).format(calls=f"{_CALLS} {where}", order=order)
        return map(Call._make, self._counted(sql, parameters))

    def threads(self) -> list[ThreadId]:
        """Those that have calls, process by process."""
        where, parameters = self._where()
        sql = f"SELECT DISTINCT host, proc, pid, tid FROM ({_CALLS} {where}) ORDER BY ALL"
        return records(self.opened.rows(sql, parameters), ThreadId)

    def processes(self) -> dict[int | None, ProcessName]:
        """The processes of the run by `proc`."""
        rows = self.opened.rows("SELECT proc, main, container FROM processes")
        return {process.proc: process for process in records(rows, ProcessName)}

    def system(self) -> list[HostSecond]:
        """What hosts did while the chosen calls ran, host by host."""
        window = Selection("system", begin=self.selection.begin, end=self.selection.end)
        where, parameters = window.where(self.start)
        cells = ", ".join(f'"{name}"' for name in HostSecond.__struct_fields__)
        sql = f"SELECT {cells} FROM system WHERE {where} ORDER BY host, time"
        return records(self.opened.rows(sql, parameters), HostSecond)

    def only_summed(self) -> list[OnlySummed]:
        """What of the job, task and layers is in sums only, at any time of the run."""
        chosen = self.selection
        expression = only_summed(chosen.job, chosen.task, chosen.layers)
        return DuckDb(self.opened).records(expression, OnlySummed)

    def _table(self) -> str:
        return "events" if self.selection.table == "calls" else self.selection.table

    def _where(self) -> tuple[str, list[Any]]:
        where, parameters = self.selection.where(self.start)
        if self.selection.table == "calls":
            where += " AND kind IN ('call', 'unfinished')"
            where += "" if self._pauses else " AND layer <> 'jvm'"
        return f"WHERE {where}", parameters

    def _counted(self, sql: str, parameters: list[Any]) -> Iterator[tuple[Any, ...]]:
        for number, row in enumerate(self.opened.stream(sql, parameters), 1):
            yield row
            if number % _STEP == 0:
                self._progress("export", min(1.0, number / self.count))

    def _first(self) -> int:
        rows = self.opened.rows("SELECT min(start) AS first FROM events")
        return int(rows[0]["first"] or 0)


def identity(*parts: object) -> int:
    """64 bits, never 0, that name the same thing in every export."""
    text = "\0".join(map(str, parts)).encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") or 1


_FACTS = (
    *("target", "category", "block", "peer", "offset", "bytes", "asked", "error"),
    *("job", "task", "phase", "waited"),
)
_STEP = 1000
_CALLS = f"""
    SELECT coalesce(host, '') AS host, coalesce(proc, 0) AS proc, coalesce(role, '') AS role,
        coalesce(pid, 0) AS pid, coalesce(tid, 0) AS tid,
        CASE layer WHEN 'jvm' THEN 'pauses of the JVM'
            ELSE coalesce(nullif(thread, ''), 'thread ' || coalesce(tid, 0)) END AS thread,
        start, coalesce(dur, 0) AS dur, coalesce(layer, '') AS layer, coalesce(op, '') AS op,
        category, target, block, peer, "offset", bytes, asked, error,
        coalesce(span, 0) AS span, parent,
        coalesce(parent_proc, proc, 0) AS parent_proc, coalesce(trace, proc, 0) AS trace,
        job, task, phase, (flags & {FLAG["inner"]}) <> 0 AS "inner", kind = 'call' AS finished,
        point
    FROM (FROM events WHERE start IS NOT NULL)"""
_PLAIN = """
    SELECT * EXCLUDE (point), false AS caused, NULL AS waited, NULL AS effects
    FROM ({calls}) ORDER BY {order}"""
# Causes within the chosen calls. A call begins the moment its wait ends.
_CAUSES = """
    WITH chosen AS ({calls}),
    cause AS (
        SELECT DISTINCT ON (below.proc, below.span) below.proc, below.span,
            up.proc AS up_proc, up.span AS up_span
        FROM chosen AS below
        JOIN chosen AS up ON up.proc = below.parent_proc AND up.span = below.parent
        WHERE below.span <> 0 AND (up.proc <> below.proc OR up.tid <> below.tid)),
    effect AS (
        SELECT up_proc AS proc, up_span AS span, list([proc, span] ORDER BY proc, span) AS effects
        FROM cause GROUP BY ALL),
    wait AS (
        SELECT proc, tid, point, start + dur AS start, max(dur) AS waited
        FROM events WHERE kind = 'link' GROUP BY ALL)
    SELECT chosen.* EXCLUDE (point), cause.span IS NOT NULL AS caused, waited, effects
    FROM chosen LEFT JOIN cause USING (proc, span) LEFT JOIN effect USING (proc, span)
    LEFT JOIN wait USING (proc, tid, point, start)
    ORDER BY {order}"""
