"""What an export writes: the chosen calls of a run, in order, some thousand in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from hashlib import blake2b
from typing import Any, NamedTuple

from iostrata.schema.events import FLAG
from iostrata.show.export.selection import Selection
from iostrata.store.opened import OpenedRun

Row = dict[str, Any]


class Order(StrEnum):
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


class Source:
    """The calls that `chosen` leaves of a run; `advance` is told how many were read.

    With `pauses`, those of whole JVMs are calls, too.
    """

    def __init__(
        self,
        opened: OpenedRun,
        chosen: Selection,
        pauses: bool = False,
        advance: Callable[[int], None] | None = None,
    ) -> None:
        self.opened = opened
        self.run = opened.run
        self.chosen = chosen
        self._pauses = pauses or "jvm" in chosen.layers
        self.advance = advance or (lambda _: None)
        self.start: int = self.run.start or self._first()

    def count(self) -> int:
        """How many calls (or rows of the table) are chosen."""
        where, parameters = self._where()
        found = self.opened.rows(f"SELECT count(*) AS n FROM {self._table()} {where}", parameters)
        return int(found[0]["n"])

    def rows(self, columns: list[str]) -> Iterator[tuple[Any, ...]]:
        """The chosen rows of any table, as they are stored."""
        where, parameters = self._where()
        cells = ", ".join(f'"{column}"' for column in columns)
        yield from self._counted(f"SELECT {cells} FROM {self._table()} {where}", parameters)

    def calls(self, order: Order, causes: bool = True) -> Iterator[Call]:
        """The chosen calls; without `causes` none is `caused`, `waited` or has `effects`."""
        where, parameters = self._where()
        sql = (_CAUSES if causes else _PLAIN).format(calls=f"{_CALLS} {where}", order=order)
        return map(Call._make, self._counted(sql, parameters))

    def threads(self) -> Iterator[Row]:
        """host, proc, pid, tid of those that have calls, process by process."""
        where, parameters = self._where()
        return iter(
            self.opened.rows(
                f"SELECT DISTINCT host, proc, pid, tid FROM ({_CALLS} {where}) ORDER BY ALL",
                parameters,
            )
        )

    def processes(self) -> dict[int, Row]:
        """The processes of the run by `proc`."""
        return {row["proc"]: row for row in self.opened.rows("SELECT * FROM processes")}

    def system(self) -> Iterator[Row]:
        """What hosts did while the chosen calls ran, host by host."""
        where, parameters = Selection("system", begin=self.chosen.begin, end=self.chosen.end).where(
            self.start
        )
        return iter(
            self.opened.rows(f"SELECT * FROM system WHERE {where} ORDER BY host, time", parameters)
        )

    def only_summed(self) -> list[Row]:
        """layer, calls, bytes of what is in sums only, whenever it was; most calls first."""
        where, parameters = self.chosen.where(self.start, windowed=False)
        return self.opened.rows(_ONLY_SUMMED.format(where=where), parameters * 2)

    def _table(self) -> str:
        return "events" if self.chosen.table == "calls" else self.chosen.table

    def _where(self) -> tuple[str, list[Any]]:
        where, parameters = self.chosen.where(self.start)
        if self.chosen.table == "calls":
            where += " AND kind IN ('call', 'unfinished')"
            where += "" if self._pauses else " AND layer <> 'jvm'"
        return f"WHERE {where}", parameters

    def _counted(self, sql: str, parameters: list[Any]) -> Iterator[tuple[Any, ...]]:
        for number, row in enumerate(self.opened.stream(sql, parameters), 1):
            yield row
            if number % _STEP == 0:
                self.advance(_STEP)

    def _first(self) -> int:
        found = self.opened.rows("SELECT min(start) AS first FROM events")
        return int(found[0]["first"] or 0)


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
        start, coalesce(dur, 0) AS dur, layer, op, category, target, block, peer, "offset", bytes,
        asked, error, coalesce(span, 0) AS span, parent,
        coalesce(parent_proc, proc, 0) AS parent_proc, coalesce(trace, proc, 0) AS trace,
        job, task, phase, (flags & {FLAG["inner"]}) <> 0 AS "inner", kind = 'call' AS finished,
        point
    FROM events"""
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
_UNCOVERED = f"FILTER ((flags & {FLAG['double_counted']}) = 0)"
_ONLY_SUMMED = f"""
    SELECT layer, summed.calls - coalesce(kept.calls, 0) AS calls,
        summed.bytes - coalesce(kept.bytes, 0) AS bytes
    FROM (SELECT layer, sum("count")::BIGINT AS calls,
            coalesce(sum(bytes) {_UNCOVERED}, 0)::BIGINT AS bytes
        FROM sums WHERE {{where}} GROUP BY layer) AS summed
    LEFT JOIN (SELECT layer, count(*) AS calls,
            coalesce(sum(greatest(bytes, 0)) {_UNCOVERED}, 0)::BIGINT AS bytes
        FROM calls WHERE {{where}} GROUP BY layer) AS kept USING (layer)
    WHERE summed.calls > coalesce(kept.calls, 0) ORDER BY calls DESC, layer"""
