"""How far a run is, look by look; each looks at what is new.

What a run did is in its published parts and, for each host, in what `live-HOST.json` adds up of the
part after them (rust/native/src/collect/live.rs). A part is read once.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.moved import moved, times
from iostrata.schema.directions import BYTES_COLUMN, DIRECTION_OF
from iostrata.schema.events import FLAG
from iostrata.store.facts import is_live
from iostrata.store.files import list_files
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import Run, find_run

Row = dict[str, Any]
Key = tuple[str, str, str]  # host, layer, job
NUMBERS = ("calls", *BYTES_COLUMN.values())


@dataclass
class Done:
    """Since the run began: NUMBERS by key, and of calls kept one by one, since it was first looked
    at: how many fell in each bucket, and how long they took together (ns).
    """

    numbers: dict[Key, Counter[str]] = field(default_factory=dict)
    buckets: dict[Key, Counter[int]] = field(default_factory=dict)
    durs: Counter[Key] = field(default_factory=Counter)

    def add(self, key: Key, numbers: dict[str, int]) -> None:
        self.numbers.setdefault(key, Counter()).update(numbers)

    def add_times(self, key: Key, buckets: dict[int, int], dur: int) -> None:
        self.buckets.setdefault(key, Counter()).update(buckets)
        self.durs[key] += dur

    def plus(self, other: Done) -> Done:
        """Both together."""
        found = Done()
        for each in (self, other):
            for key, numbers in each.numbers.items():
                found.add(key, numbers)
            for key, buckets in each.buckets.items():
                found.add_times(key, buckets, each.durs[key])
        return found


@dataclass(frozen=True)
class Look:
    """A run at a moment: `at` per host, ns since the epoch, up to which its sums are known.

    `incomplete` says, a line each, what is in none of it.
    `open` are calls that had begun and not ended: host, pid, role, thread, layer, op, target, job,
    task, since (ns since the epoch), the oldest first; `more_open`: how many more there are.
    """

    run: Run
    at: dict[str, int]
    done: Done
    open: list[Row]
    more_open: int
    incomplete: list[str] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return self.run.state != "recording"


class Watch:
    """Looks at a run again and again."""

    def __init__(self, run: Run) -> None:
        self._store, self._name = run.path.parent, run.name
        self._published = Done()
        self._read: set[Path] = set()
        self._first = True
        self._incomplete: list[str] = []

    def look(self) -> Look:
        """How far the run is now; raises UserError where there is none any more."""
        run = find_run(self._store, self._name)
        told = _told(run) if run.state == "recording" else {}
        self._read_parts(run, {host: live["part"] for host, live in told.items()})
        pending, open_calls = Done(), []
        for host, live in told.items():
            _add_pending(pending, host, live)
            open_calls += [{"host": host, **call} for call in live["open"]]
        return Look(
            run,
            {host: live["at"] for host, live in told.items()},
            self._published.plus(pending),
            sorted(open_calls, key=lambda call: call["since"]),
            sum(live["more_open"] for live in told.values()),
            [*run.damage, *self._incomplete],
        )

    def _read_parts(self, run: Run, before: dict[str, int]) -> None:
        """Adds published parts that were not read so far; of a host only those before a number."""
        new = [
            path
            for path in list_files(run)["events"]
            if path not in self._read and _number(path) < before.get(_host(path), 1 << 62)
        ]
        if new:
            with OpenedRun(run, {"events": new}) as opened:
                self._incomplete += opened.incomplete
                engine = DuckDb(opened)
                for row in engine.rows(moved()):
                    self._published.add(_key(row), {name: row[name] for name in NUMBERS})
                # what calls took is said of a window, and none began before the first look
                for row in [] if self._first else engine.rows(times()):
                    self._published.add_times(_key(row), {row["bucket"]: row["calls"]}, row["dur"])
        self._read |= set(new)
        self._first = False


def _told(run: Run) -> dict[str, Row]:
    """The `live-HOST.json` of each host; one that is going away, or not ours, is none."""
    found = {}
    for path in run.path.glob("live-*.json"):
        try:
            live = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if is_live(live):
            found[path.stem.removeprefix("live-")] = live
    return found


def _add_pending(pending: Done, host: str, live: Row) -> None:
    for cell in live["cells"]:
        numbers = Counter(calls=0 if cell["flags"] & FLAG["inner"] else cell["count"])
        direction = DIRECTION_OF.get(cell["op"])
        if direction and not cell["flags"] & FLAG["double_counted"]:
            numbers[BYTES_COLUMN[direction]] += cell["bytes"]
        pending.add((host, cell["layer"], cell["job"]), numbers)
    for row in live["times"]:
        key = (host, row["layer"], row["job"])
        pending.add_times(key, {int(place): calls for place, calls in row["buckets"]}, row["dur"])


def _key(row: Row) -> Key:
    return row["host"], row["layer"], row["job"]


def _host(part: Path) -> str:
    return part.parent.name.removeprefix("host=")


def _number(part: Path) -> int:
    """Of the collector that wrote it: `part-000007`, or `part-000007-by-HOST`; else 0."""
    number = part.stem.removeprefix("part-").partition("-")[0]
    return int(number) if number.isdecimal() else 0
