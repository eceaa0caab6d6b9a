"""What servers (DataNodes, NodeManagers) moved to and from disks for attempts, or sent to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from iostrata.analyse.attempts import Attempt
from iostrata.analyse.demands import (
    SERVERS,
    BlockWrite,
    ServerRead,
    block_writes,
    server_reads,
)
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.locality import AttemptSource, sources
from iostrata.analyse.usage import ProcessUsage

# Of a host, bytes in each bin.
_Bins = dict[str, dict[int, float]]
# From when until when, in seconds from the begin of the run.
Window = tuple[float, float]


class Served:
    """Bytes by attempt and host. When they were moved, the kernel's account of the servers says, in
    bins of `width` seconds.
    """

    def __init__(
        self, engine: DuckDb, ran: Sequence[Attempt], usage: Iterable[ProcessUsage], width: float
    ) -> None:
        self._width = width
        self._written: dict[str, dict[str, float]] = defaultdict(dict)
        for write in engine.records(block_writes, BlockWrite):
            self._written[write.task][write.host or ""] = float(write.bytes)
        sent = engine.records(sources, AttemptSource)
        self._sent: dict[str, dict[str, float]] = defaultdict(dict)
        for one in sent:
            self._sent[one.task][one.source or ""] = float(one.bytes)
        self._read = _reads(engine, ran, sent)
        self._writing, self._reading = _bins(usage)

    @property
    def hosts(self) -> set[str]:
        """All whose servers moved something."""
        return {host for rows in (*self._written.values(), *self._read.values()) for host in rows}

    @property
    def written(self) -> float:
        """Bytes that DataNodes wrote for all attempts."""
        return sum(sum(rows.values()) for rows in self._written.values())

    def writes(self, task: str, windows: Sequence[Window]) -> list[dict[str, float]]:
        """What DataNodes wrote for an attempt, shared out to windows; by host."""
        return self._shared_out(self._written[task], self._writing, windows)

    def reads(self, task: str, windows: Sequence[Window]) -> list[dict[str, float]]:
        """What servers fetched from disks for an attempt, shared out to windows; by host."""
        return self._shared_out(self._read[task], self._reading, windows)

    def sends(self, task: str, windows: Sequence[Window]) -> list[dict[str, float]]:
        """What DataNodes sent for an attempt, shared out to windows by their lengths; by host."""
        return by_length(self._sent[task], windows)

    def _shared_out(
        self, amounts: Mapping[str, float], moved: _Bins, windows: Sequence[Window]
    ) -> list[dict[str, float]]:
        """By what the servers of a host moved in each window, else by their lengths."""
        found: list[dict[str, float]] = [{} for _ in windows]
        for host, amount in amounts.items():
            parts = [self._moved(moved.get(host, {}), window) for window in windows]
            if not sum(parts):
                parts = [until - since for since, until in windows]
            whole = sum(parts)
            for place, part in enumerate(parts):
                if part:
                    found[place][host] = amount * part / whole
        return found

    def _moved(self, bins: Mapping[int, float], window: Window) -> float:
        since, until = window
        first, last = int(since // self._width), int(until // self._width)
        total = 0.0
        for number in range(first, last + 1):
            begin = number * self._width
            inside = min(until, begin + self._width) - max(since, begin)
            total += bins.get(number, 0.0) * inside / self._width
        return total


def by_length(amounts: Mapping[str, float], windows: Sequence[Window]) -> list[dict[str, float]]:
    """Amounts by host, shared out to windows by their lengths."""
    whole = sum(until - since for since, until in windows)
    return [
        {host: amount * (until - since) / whole for host, amount in amounts.items() if amount}
        if whole
        else {}
        for since, until in windows
    ]


def _bins(usage: Iterable[ProcessUsage]) -> tuple[_Bins, _Bins]:
    """Bytes that servers of a host wrote, and read, in each bin."""
    writing: _Bins = defaultdict(lambda: defaultdict(float))
    reading: _Bins = defaultdict(lambda: defaultdict(float))
    for row in usage:
        if row.role in SERVERS:
            writing[row.host or ""][row.bin] += row.disk_written or 0
            reading[row.host or ""][row.bin] += row.disk_read or 0
    return writing, reading


def _reads(
    engine: DuckDb, ran: Sequence[Attempt], sent: Sequence[AttemptSource]
) -> dict[str, dict[str, float]]:
    """Bytes that servers fetched from disks, shared out by what they sent to attempts."""
    of_host: dict[str | None, int] = defaultdict(int)
    for one in sent:
        of_host[one.source] += one.bytes
    fetched = sum(one.fetched for one in ran)
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for read in engine.records(server_reads, ServerRead):
        if read.role == "DataNode":
            parts = {one.task: one.bytes / of_host[one.source]
                     for one in sent if one.source == read.host and one.bytes}  # fmt: skip
        else:
            parts = {one.task: one.fetched / fetched for one in ran if one.fetched}
        for task, part in parts.items():
            found[task][read.host or ""] += read.bytes * part
    return found
