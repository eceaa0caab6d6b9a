"""What a run did between two looks, per second, and what is open."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from iostrata.analyse.buckets import quantile
from iostrata.show.live.watch import NUMBERS, Done, Key, Look
from iostrata.show.totals import in_layer_order

Row = dict[str, Any]
SECOND = 10**9


@dataclass(frozen=True)
class Now:
    """A run at a moment.

    `as_of`: until when all is known (ns since the epoch), `age`: how old that is, `window`: over
    which time rates are, each of the host that is worst off; None when nothing is known. `rates`
    by host, layer and job: calls and bytes_* per second, and of the calls kept one by one that
    ended in the window how many (`kept`), mean, p50 and p99 (ns; None for none). `totals` by
    layer: calls and bytes_* since the run began.
    """

    look: Look
    as_of: int | None
    age: int | None
    window: int | None
    rates: list[Row]
    totals: list[Row]
    open: list[Row]

    def as_dict(self) -> Row:
        """JSON values; times in ns."""
        return {
            "run": self.look.run.name,
            "state": self.look.run.state,
            "as_of": self.as_of,
            "age": self.age,
            "window": self.window,
            "rates": self.rates,
            "totals": self.totals,
            "open": self.open,
            "more_open": self.look.more_open,
            "incomplete": self.look.incomplete,
        }


def now(before: Look | None, look: Look, clock: int | None = None) -> Now:
    """What happened since the look before; `clock`: ns since the epoch."""
    clock = time.time_ns() if clock is None else clock
    windows = {
        host: at - before.at[host] for host, at in look.at.items() if before and host in before.at
    }
    windows = {host: length for host, length in windows.items() if length > 0}
    as_of = min(look.at.values(), default=None)
    rates = _rates(before.done, look.done, windows) if before else []
    return Now(
        look,
        as_of=as_of,
        age=None if as_of is None else clock - as_of,
        window=max(windows.values(), default=None),
        rates=rates,
        totals=_totals(look.done),
        open=[{**call, "for": clock - call["since"]} for call in look.open],
    )


def _rates(before: Done, after: Done, windows: dict[str, int]) -> list[Row]:
    rows = []
    for key, numbers in after.numbers.items():
        host, layer, job = key
        if host not in windows:
            continue
        was = before.numbers.get(key, Counter())
        per_second = {
            name: (numbers[name] - was[name]) * SECOND / windows[host] for name in NUMBERS
        }
        times = _times(before, after, key)
        if any(per_second.values()) or times["kept"]:
            rows.append({"host": host, "layer": layer, "job": job, **per_second, **times})
    return in_layer_order(sorted(rows, key=lambda row: (row["host"], row["job"])))


def _times(before: Done, after: Done, key: Key) -> Row:
    buckets = after.buckets.get(key, Counter()) - before.buckets.get(key, Counter())
    kept = buckets.total()
    dur = after.durs[key] - before.durs[key]
    return {
        "kept": kept,
        "mean": dur // kept if kept else None,
        "p50": quantile(buckets, 0.5),
        "p99": quantile(buckets, 0.99),
    }


def _totals(done: Done) -> list[Row]:
    found: dict[str, Counter[str]] = {}
    for (_, layer, _), numbers in done.numbers.items():
        found.setdefault(layer, Counter()).update(numbers)
    rows = [{"layer": layer, **{name: of[name] for name in NUMBERS}} for layer, of in found.items()]
    return in_layer_order(rows)
