"""The streams of the page that moved most, with the places of their requests."""

from __future__ import annotations

from iostrata.analyse.axis import Axis
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.merged import STREAM, Stream
from iostrata.analyse.patterns import LargestStream, Pattern, largest_streams, patterns
from iostrata.analyse.places import RequestPlace, places
from iostrata.show.report.bounds import MOST_STREAMS
from iostrata.show.report.model import AccessStream, Bounded

_MS = 1_000_000
_OF_PATTERN = tuple(name for name in AccessStream.__struct_fields__ if name != "points")


def streams(engine: DuckDb, axis: Axis) -> Bounded[AccessStream]:
    """Those that moved most bytes first; time in ms since the begin of the axis."""
    largest = engine.records(largest_streams(MOST_STREAMS), LargestStream)
    shown = engine.records(patterns(most=MOST_STREAMS), Pattern) if largest else []
    points: dict[tuple[object, ...], list[list[int]]] = {_key(one): [] for one in shown}
    if shown:
        every = places()
        processes = sorted({one.proc for one in shown if one.proc is not None})
        for place in engine.records(every.filter(every.proc.isin(processes)), RequestPlace):
            if (key := _key(place)) in points:
                points[key].append([max(0, place.start - axis.start) // _MS, place.offset])
    rows = [
        AccessStream(**{name: getattr(one, name) for name in _OF_PATTERN}, points=points[_key(one)])
        for one in shown
    ]
    return Bounded(rows, (largest[0].streams if largest else 0) - len(rows))


def _key(stream: Stream) -> tuple[object, ...]:
    return tuple(getattr(stream, name) for name in STREAM)
