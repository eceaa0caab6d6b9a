"""Calls of a thread on lanes: on each, what begins later ends sooner."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from iostrata.show.export.source import Call, CallOrder, Source


class Edge(NamedTuple):
    """The begin (`opens`) or the end of a call, at `at` ns, on a lane from 0."""

    lane: int
    at: int
    call: Call
    opens: bool


def threads(source: Source, causes: bool = True) -> Iterator[Iterator[Edge]]:
    """Begins and ends of the chosen calls, thread by thread."""
    of_thread = attrgetter("host", "proc", "tid")
    for _, calls in groupby(source.calls(CallOrder.threads, causes), of_thread):
        yield nested(calls)


def nested(calls: Iterable[Call]) -> Iterator[Edge]:
    """Begins and ends of the calls of one thread, per lane in their order.

    Calls come by begin, those that enclose first. One that neither encloses nor is enclosed but
    overlaps (of an import, or by a clock set back) goes to the first lane where it fits.
    """
    lanes: list[list[Call]] = []
    for call in calls:
        for lane, above in enumerate(lanes):
            yield from _ended(lane, above, call.start)
            if not above or call.end <= above[-1].end:
                break
        else:
            lane = len(lanes)
            lanes.append([])
        lanes[lane].append(call)
        yield Edge(lane, call.start, call, True)
    for lane, above in enumerate(lanes):
        yield from _ended(lane, above, math.inf)


def _ended(lane: int, above: list[Call], until: float) -> Iterator[Edge]:
    while above and above[-1].end <= until:
        ended = above.pop()
        yield Edge(lane, ended.end, ended, False)
