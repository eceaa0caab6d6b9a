from __future__ import annotations

import random
from operator import attrgetter
from statistics import median
from typing import Any

from iostrata.analyse.peers import PeerDisk, PeerMirror, beside_others, slow_disks, slow_mirrors
from iostrata.analyse.tables import SUMS
from iostrata.analyse.tests.conftest import Traced
from iostrata.records import Record
from iostrata.store.tests.made import row_of_call, row_of_sum


def write(host: str, proc: int, each: int, calls: int = 100, **more: Any) -> dict[str, Any]:
    given = {"host": host, "proc": proc, "count": calls, "timed_dur": each * calls}
    return row_of_sum("datanode", "write", **{**given, **more})


def test_disks_beside_those_of_all_other_datanodes(traced: Traced) -> None:
    engine = traced(
        [
            write("a", 1, 10),
            write("b", 2, 20),
            write("b", 3, 30),  # a second DataNode of the host
            write("c", 4, 900),
            write("d", 5, 5000, calls=19),  # too few to say
            row_of_sum("datanode", "disk_sync", host="a", proc=1, count=50, timed_dur=100),
        ]
    )
    names = ("op", "host", "proc", "calls", "mean", "others")
    assert list(map(attrgetter(*names), engine.records(slow_disks(), PeerDisk))) == [
        ("disk_sync", "a", 1, 50, 2.0, None),
        ("write", "a", 1, 100, 10.0, 30.0),
        ("write", "b", 2, 100, 20.0, 30.0),
        ("write", "b", 3, 100, 30.0, 20.0),
        ("write", "c", 4, 100, 900.0, 20.0),
    ]


class Beside(Record, frozen=True):
    op: str
    host: str
    bytes: int
    others: float | None


def test_the_median_of_the_others_is_that_of_statistics(traced: Traced) -> None:
    drawn = random.Random(2)
    values = {
        (op, f"n{number}"): drawn.randint(0, 9)  # some of them equal
        for op, many in (("a", 1), ("b", 2), ("c", 7), ("d", 8))
        for number in range(many)
    }
    engine = traced(
        [row_of_sum("java", op, host=host, bytes=value) for (op, host), value in values.items()]
    )
    rows = SUMS.select("op", "host", "bytes")
    found = engine.records(beside_others(rows, "bytes", "host", "op"), Beside)
    assert {(row.op, row.host): row.others for row in found} == {
        (op, host): median(others) if others else None
        for op, host in values
        if [others := [v for (o, h), v in values.items() if o == op and h != host]]
    }


def test_a_receiver_is_as_slow_as_those_find_it_that_send_to_it(traced: Traced) -> None:
    def block(number: int, host: str, proc: int, sender: int | None) -> dict[str, Any]:
        cause = {"block": number, "host": host, "proc": proc, "parent_proc": sender}
        return row_of_call("datanode", "write_block", "BP-1", **cause)

    def mirrored(number: int, proc: int, each: int) -> list[dict[str, Any]]:
        sent = {"block": number, "proc": proc, "bytes": 10, "dur": each}
        return [row_of_call("hdfs", "mirror_packet", "BP-1", **sent) for _ in range(20)]

    engine = traced(
        [
            *(block(1, "a", 1, None), block(1, "b", 2, 1), block(1, "c", 3, 2)),
            *(block(2, "a", 1, 77), block(2, "c", 3, 1)),  # from a client that was traced
            *mirrored(1, 1, 5),
            *mirrored(1, 2, 100),
            *mirrored(2, 1, 300),
            *mirrored(9, 1, 7),  # to nobody who was traced
            # a pipeline that was built anew: nobody knows which packets went to whom
            *(block(3, "b", 2, 1), block(3, "c", 3, 1)),
            *mirrored(3, 1, 9999),
        ]
    )
    assert engine.records(slow_mirrors(), PeerMirror) == [
        PeerMirror(
            host="b",
            proc=2,
            senders=1,
            packets=20,
            bytes=200,
            time=100,
            max=5,
            mean=5.0,
            others=200.0,
        ),
        PeerMirror(
            host="c",
            proc=3,
            senders=2,
            packets=40,
            bytes=400,
            time=8000,
            max=300,
            mean=200.0,
            others=5.0,
        ),
    ]
