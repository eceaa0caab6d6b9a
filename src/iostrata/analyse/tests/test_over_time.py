from __future__ import annotations

import random
from collections import Counter
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from iostrata.analyse.axis import axis_of, series
from iostrata.analyse.over_time import LayerBin, over_time
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.directions import DIRECTIONS
from iostrata.schema.events import FLAG
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import SECOND, START, row_of_sum

NAMES = ("calls", *DIRECTIONS)


def grown(begin: int, end: int, op: str = "read", **more: Any) -> dict[str, Any]:
    return row_of_sum("java", op, start=begin, dur=end - begin, **more)


def test_what_grew_is_spread_over_the_bins_it_grew_in(traced: Traced) -> None:
    engine = traced(
        [
            grown(105, 125, count=4, bytes=20),
            grown(
                105, 125, count=3, bytes=9, flags=FLAG["inner"] | FLAG["double_counted"]
            ),  # known
            grown(100, 125, "write", bytes=7),  # grew in the 20 ns before its end
            grown(60, 90, "send", bytes=5),  # before all that is shown
        ]
    )
    names = ("bin", "calls", "read", "written", "sent")
    found = engine.records(over_time(start=100, width=10, within=20), LayerBin)
    assert list(map(attrgetter(*names), found)) == [
        (0, 1 + 0 + 1, 5, 1, 5),
        (1, 2 + 0, 10, 4, 0),
        (2, 1 + 1, 5, 2, 0),
    ]


@pytest.mark.parametrize("source", [{}, {"format": "darshan"}], ids=["recorded", "imported"])
def test_bins_add_up_and_are_those_of_the_report(
    traced: Traced, tmp_path: Path, source: dict[str, Any]
) -> None:
    # GIVEN sums of all lengths, in the run and around it; those of imported runs are of hours
    drawn = random.Random(5)
    layers, ops = ("java", "hdfs"), ("read", "write", "send_packet", "open")
    length = 5000 * SECOND if source else 3 * SECOND
    events = []
    for _ in range(60):
        begin = START + drawn.randint(-2 * SECOND, length)
        more = {"start": begin, "dur": drawn.randint(0, length), "count": drawn.randint(1, 10**6)}
        more["flags"] = drawn.choice([0, 0, FLAG["inner"], FLAG["double_counted"]])
        sizes = {"bytes": drawn.randint(0, 2 ** drawn.randint(1, 40))}
        events.append(row_of_sum(drawn.choice(layers), drawn.choice(ops), **more, **sizes))
    engine = traced(events, source=source, end=START + length)
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        axis = axis_of(opened)
        shown = series(opened, axis)
    within = (1 << 61) if source else SECOND
    found = engine.records(over_time(axis.start, axis.bin, within), LayerBin)
    # THEN what is counted is in a bin, each once
    total: Counter[str] = Counter()
    for event in events:
        outer, counted_once = (
            not event["flags"] & FLAG[name] for name in ("inner", "double_counted")
        )
        total["calls"] += event["count"] * outer
        for way, names in DIRECTIONS.items():
            total[way] += event["bytes"] * (counted_once and event["op"] in names)
    summed = {name: sum(getattr(row, name) for row in found) for name in NAMES}
    assert summed == {name: total[name] for name in NAMES}
    # AND every bin is in its series
    expected = {
        (row.layer, number): value
        for row in shown
        for number in range(axis.bins)
        if any(value := tuple((getattr(row, n) or [0] * axis.bins)[number] for n in _shown()))
    }
    made = {(row.layer, row.bin): attrgetter(*NAMES)(row) for row in found}
    assert {key: value for key, value in made.items() if any(value)} == expected


def _shown() -> tuple[str, ...]:
    return ("calls", *(f"bytes_{way}" for way in DIRECTIONS))
