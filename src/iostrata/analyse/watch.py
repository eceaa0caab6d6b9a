"""How far a run is that is still recorded: each snapshot reads only what is new.

What a run did is in its published parts and, for each host, in what `live-HOST.json` adds up of the
part after them. A part is read once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.latencies import JobDurations, durations_by_host
from iostrata.analyse.tables import counted_once, outer
from iostrata.analyse.totals import JobTotal, by_host
from iostrata.records import EpochNs
from iostrata.schema.directions import BYTES_COLUMN, DIRECTION_OF
from iostrata.store.files import list_files
from iostrata.store.live import Cell, Live, Open, live_files
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import Run, find_run

Origin = tuple[str, str, str]  # host, layer, job
NUMBERS = ("calls", *BYTES_COLUMN.values())


@dataclass
class Tally:
    """NUMBERS since the run began, and of calls that were recorded individually, since the first
    snapshot: how many fell in each bucket, and how long they took together (ns).
    """

    numbers: dict[Origin, Counter[str]] = field(default_factory=dict)
    buckets: dict[Origin, Counter[int]] = field(default_factory=dict)
    durs: Counter[Origin] = field(default_factory=Counter)

    def add(self, key: Origin, numbers: dict[str, int]) -> None:
        self.numbers.setdefault(key, Counter()).update(numbers)

    def add_times(self, key: Origin, buckets: dict[int, int], dur: int) -> None:
        self.buckets.setdefault(key, Counter()).update(buckets)
        self.durs[key] += dur

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        both = Tally()
        for tally in (self, other):
            for key, numbers in tally.numbers.items():
                both.add(key, numbers)
            for key, buckets in tally.buckets.items():
                both.add_times(key, buckets, tally.durs[key])
        return both


@dataclass(frozen=True)
class Snapshot:
    """A run at a moment: `until` is, per host, up to when its sums are known.

    `incomplete` says, a line each, what the numbers lack. `open` are calls that had begun and not
    ended, with their host, the oldest first; `more_open`: how many more there are.
    """

    run: Run
    until: dict[str, EpochNs]
    tally: Tally
    open: list[tuple[str, Open]]
    more_open: int
    incomplete: list[str]

    @property
    def ended(self) -> bool:
        return self.run.state != "recording"


class Watch:
    """Takes snapshots of a run."""

    def __init__(self, run: Run) -> None:
        self._store, self._name = run.path.parent, run.name
        self._published = Tally()
        self._read: set[Path] = set()
        self._first = True
        self._incomplete: list[str] = []

    def snapshot(self) -> Snapshot:
        """How far the run is now; raises UserError where there is none any more."""
        run = find_run(self._store, self._name)
        files = live_files(run) if run.state == "recording" else {}
        self._read_parts(run, {host: live.part for host, live in files.items()})
        pending = Tally()
        for host, live in files.items():
            _add_pending(pending, host, live)
        open_calls = [(host, call) for host, live in files.items() for call in live.open]
        return Snapshot(
            run,
            {host: live.at for host, live in files.items()},
            self._published.plus(pending),
            sorted(open_calls, key=lambda placed: placed[1].since),
            sum(live.more_open for live in files.values()),
            [*run.damage, *self._incomplete],
        )

    def _read_parts(self, run: Run, before: dict[str, int]) -> None:
        """Adds published parts that are new; of a host only those before a number."""
        new = [
            path
            for path in list_files(run)["events"]
            if path not in self._read and _number(path) < before.get(_host(path), 1 << 62)
        ]
        if new:
            with OpenedRun(run, {"events": new}) as opened:
                self._incomplete += opened.incomplete
                engine = DuckDb(opened)
                for each in engine.records(by_host, JobTotal):
                    numbers = {name: getattr(each, name) for name in NUMBERS}
                    self._published.add((each.host, each.layer, each.job), numbers)
                # latencies are those of a window, and none began before the first snapshot
                for row in [] if self._first else engine.records(durations_by_host, JobDurations):
                    key = (row.host, row.layer, row.job)
                    self._published.add_times(key, {row.bucket: row.calls}, row.time)
        self._read |= set(new)
        self._first = False


def _add_pending(pending: Tally, host: str, live: Live) -> None:
    for cell in live.cells:
        pending.add((host, cell.layer, cell.job), _numbers(cell))
    for row in live.times:
        pending.add_times((host, row.layer, row.job), dict(row.buckets), row.dur)


def _numbers(cell: Cell) -> dict[str, int]:
    """What `totals` makes of a row of sums."""
    numbers = {"calls": cell.count if outer(cell) else 0}
    direction = DIRECTION_OF.get(cell.op)
    if direction and counted_once(cell):
        numbers[BYTES_COLUMN[direction]] = cell.bytes
    return numbers


def _host(part: Path) -> str:
    return part.parent.name.removeprefix("host=")


def _number(part: Path) -> int:
    """Of the collector that wrote it: `part-000007`, or `part-000007-by-HOST`; else 0."""
    number = part.stem.removeprefix("part-").partition("-")[0]
    return int(number) if number.isdecimal() else 0
