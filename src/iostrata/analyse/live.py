"""What a run did between two snapshots, per second, and which calls are open."""

from __future__ import annotations

import time
from collections import Counter
from typing import Annotated

import msgspec

from iostrata.analyse.buckets import quantile
from iostrata.analyse.watch import NUMBERS, Snapshot, Tally
from iostrata.records import Bytes, Count, EpochNs, Ns, Rate, Record
from iostrata.schema.names import layer_order

SECOND = 10**9
CallRate = Annotated[float, msgspec.Meta(description="calls a second")]


class LiveRates(Record, frozen=True):
    """Of a host, layer and job ('' for none) in the window, and of the calls that were recorded
    individually and ended in it how many there were and how long they took; None for none.
    """

    host: str
    layer: str
    job: str
    calls: CallRate
    bytes_read: Rate
    bytes_written: Rate
    bytes_received: Rate
    bytes_sent: Rate
    recorded: Count
    mean: Ns | None
    p50: Ns | None
    p99: Ns | None


class LiveTotals(Record, frozen=True):
    """Of a layer since the run began."""

    layer: str
    calls: Count
    bytes_read: Bytes
    bytes_written: Bytes
    bytes_received: Bytes
    bytes_sent: Bytes


class OpenCall(Record, frozen=True):
    """A call that had begun and not ended; `age`: for how long it has been open."""

    host: str
    pid: int
    role: str | None
    thread: str | None
    layer: str
    op: str
    target: str | None
    job: str | None
    task: str | None
    since: EpochNs
    age: Ns = msgspec.field(name="for")


class LiveView(Record, frozen=True):
    """A run at a moment.

    `as_of`: until when all is known; `age`: how old that is; `window`: over which time rates are,
    that of the host that is worst off; None when nothing is known. The oldest call is the first in
    `open`; `more_open` says how many more there are. `incomplete`: what the numbers lack, a line
    each.
    """

    run: str
    state: str
    exit: int | None
    as_of: EpochNs | None
    age: Ns | None
    window: Ns | None
    rates: list[LiveRates]
    totals: list[LiveTotals]
    open: list[OpenCall]
    more_open: Count
    incomplete: list[str]

    @property
    def ended(self) -> bool:
        """Whether the run is recorded no more."""
        return self.state != "recording"


def live_view(before: Snapshot | None, after: Snapshot, clock: EpochNs | None = None) -> LiveView:
    """What happened since the snapshot `before`; `clock`: what time it is."""
    clock = time.time_ns() if clock is None else clock
    begun = before.until if before else {}
    windows = {host: at - begun[host] for host, at in after.until.items() if host in begun}
    windows = {host: length for host, length in windows.items() if length > 0}
    as_of = min(after.until.values(), default=None)
    return LiveView(
        run=after.run.name,
        state=after.run.state,
        exit=after.run.exit,
        as_of=as_of,
        age=None if as_of is None else clock - as_of,
        window=max(windows.values(), default=None),
        rates=_rates(before.tally, after.tally, windows) if before else [],
        totals=_totals(after.tally),
        open=[
            OpenCall(host=host, age=clock - call.since, **msgspec.structs.asdict(call))
            for host, call in after.open
        ],
        more_open=after.more_open,
        incomplete=after.incomplete,
    )


def _rates(before: Tally, after: Tally, windows: dict[str, int]) -> list[LiveRates]:
    rows = []
    for key, numbers in after.numbers.items():
        host, layer, job = key
        if host not in windows:
            continue
        old = before.numbers.get(key, Counter())
        rates = [(numbers[name] - old[name]) * SECOND / windows[host] for name in NUMBERS]
        buckets = after.buckets.get(key, Counter()) - before.buckets.get(key, Counter())
        recorded = buckets.total()
        if not any(rates) and not recorded:
            continue
        mean = (after.durs[key] - before.durs[key]) // recorded if recorded else None
        calls, read, written, received, sent = rates
        middle, high = (quantile(buckets, share) for share in (0.5, 0.99))
        moved = (read, written, received, sent)
        rows.append(LiveRates(host, layer, job, calls, *moved, recorded, mean, middle, high))
    return sorted(rows, key=lambda row: (layer_order(row.layer), row.host, row.job))


def _totals(tally: Tally) -> list[LiveTotals]:
    layers: dict[str, Counter[str]] = {}
    for (_, layer, _), numbers in tally.numbers.items():
        layers.setdefault(layer, Counter()).update(numbers)
    rows = [
        LiveTotals(layer, *(numbers[name] for name in NUMBERS)) for layer, numbers in layers.items()
    ]
    return sorted(rows, key=lambda row: layer_order(row.layer))
