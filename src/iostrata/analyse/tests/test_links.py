from __future__ import annotations

from operator import attrgetter
from typing import Any

from iostrata.analyse.links import Link, links
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import process, row_of_call, row_of_sum


def output(peer: str, host: str, size: int, dur: int) -> dict[str, Any]:
    more = {"peer": peer, "host": host, "bytes": size, "dur": dur, "category": "shuffle"}
    return row_of_call("task", "receive", "m_0", **more)


def test_what_crossed_between_hosts_and_how_long_it_took(traced: Traced) -> None:
    sent = {"count": 4, "timed_dur": 90, "bytes": 900}
    engine = traced(
        [
            output("a:13562", "b", 100, 7),
            output("a:13562", "b", 50, 3),
            output("b:13562", "b", 50, 3),  # over no wire
            row_of_sum("datanode", "send_packet", host="a", task="m_0", **sent),
            row_of_sum("datanode", "send_packet", host="b", task="m_0", **sent),
            row_of_sum("datanode", "send_packet", host="a", task="of another run", **sent),
        ],
        processes=[process("map", 7, job="j", task="m_0", host="b", start=1, end=2)],
    )
    names = ("sender", "receiver", "bytes", "time")
    assert list(map(attrgetter(*names), engine.records(links(), Link))) == [("a", "b", 1050, 100)]
