"""What the collectors of a run say once a second of what is in no published part yet."""

from __future__ import annotations

import msgspec

from iostrata.records import Bytes, Count, EpochNs, Ns, Record
from iostrata.regular import read_regular
from iostrata.store.facts import NO_JSON
from iostrata.store.runs import Run


class Cell(Record, frozen=True, forbid_unknown_fields=False):
    """Sums of calls that agree in all but numbers; `job` is '' for none."""

    layer: str
    op: str
    job: str
    flags: int
    count: Count
    bytes: Bytes


class Times(Record, frozen=True, forbid_unknown_fields=False):
    """How long calls took that were recorded individually, in buckets of `analyse.buckets`."""

    layer: str
    job: str
    dur: Ns
    buckets: list[tuple[int, Count]]


class Open(Record, frozen=True, forbid_unknown_fields=False):
    """A call that had begun and not ended."""

    layer: str
    op: str
    pid: int
    since: EpochNs
    role: str | None = None
    thread: str | None = None
    target: str | None = None
    job: str | None = None
    task: str | None = None


class Live(Record, frozen=True, forbid_unknown_fields=False):
    """`live-HOST.json` (rust/native/src/collect/live.rs): what is known until `at` beyond the parts
    before `part`; `more_open`: how many open calls it does not list.
    """

    at: EpochNs
    part: int
    cells: list[Cell]
    times: list[Times]
    open: list[Open]
    more_open: Count


def live_files(run: Run) -> dict[str, Live]:
    """The file of each host; one that is going away, or is not ours, is left out."""
    files = {}
    for path in run.path.glob("live-*.json"):
        try:
            live = msgspec.json.decode(read_regular(path), type=Live)
        except (OSError, *NO_JSON):
            continue
        files[path.stem.removeprefix("live-")] = live
    return files
