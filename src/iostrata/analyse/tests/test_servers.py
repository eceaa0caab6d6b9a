from __future__ import annotations

from operator import attrgetter
from typing import Any

from iostrata.analyse.locality import Locality, locality
from iostrata.analyse.servers import DiskStep, NameNodeOperation, disks, namenode
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import process, row_of_sum

COVERED = FLAG["double_counted"]


def sent(host: str, task: str | None, size: int, **more: Any) -> dict[str, Any]:
    return row_of_sum(
        "datanode", "send_packet", role="DataNode", host=host, task=task, bytes=size, **more
    )


def test_bytes_are_local_where_task_and_datanode_share_a_host(traced: Traced) -> None:
    engine = traced(
        [
            sent("a", "m_0", 100),
            sent("a", "m_0", 20),
            sent("b", "m_0", 7),
            sent("a", "m_1", 50),
            sent("a", "m_1", 50, flags=COVERED),  # the same bytes
            sent("a", None, 1000),  # for a client that is no task
        ],
        processes=[
            process("map", 1, host="a", job="j", task="m_0", start=1),
            process("map", 2, host="b", job="j", task="m_1", start=2),
            process("map", 3, host="b", job="j", task="m_2", start=3),  # read nothing
        ],
    )
    names = ("task", "host", "local", "rack_local", "remote")
    assert list(map(attrgetter(*names), engine.records(locality(), Locality))) == [
        ("m_0", "a", 120, 0, 7),
        ("m_1", "b", 0, 0, 50),
    ]


def test_other_hosts_of_a_rack_are_told_apart_where_racks_are_known(traced: Traced) -> None:
    engine = traced(
        [*(sent(host, "m_0", size) for host, size in zip("abcd", (1, 20, 300, 4000), strict=True))],
        processes=[process("map", 1, host="a", job="j", task="m_0", start=1)],
    )
    racks = {"a": "/r1", "b": "/r1", "c": "/r2"}  # nobody knows where d is
    (found,) = engine.records(locality(racks), Locality)
    assert (found.local, found.rack_local, found.remote) == (1, 20, 4300)


def test_operations_of_a_namenode_by_their_time(traced: Traced) -> None:
    engine = traced(
        [
            row_of_sum("namenode", "create", host="a", count=2, timed_dur=10, max=8),
            row_of_sum("namenode", "create", host="a", count=1, timed_dur=5, max=9, errors=1),
            row_of_sum("namenode", "write_lock", host="a", count=30, timed=3, timed_dur=90, max=50),
            row_of_sum("rpc", "handle", host="a", timed_dur=1000),
        ]
    )
    names = ("op", "calls", "time", "timed", "max", "errors")
    assert list(map(attrgetter(*names), engine.records(namenode(), NameNodeOperation))) == [
        ("write_lock", 30, 90, 3, 50, 0),
        ("create", 3, 15, 3, 9, 1),
    ]


def test_steps_of_disks_stand_beside_each_other(traced: Traced) -> None:
    def write(host: str, proc: int, **more: Any) -> dict[str, Any]:
        return row_of_sum("datanode", "write", host=host, proc=proc, **more)

    engine = traced(
        [
            write("b", 2, count=10, bytes=640, timed_dur=9000, max=5000),
            write("a", 1, count=10, bytes=640, timed_dur=100, max=20),
            write("a", 1, count=1, bytes=64, timed_dur=10, max=10),
            row_of_sum("datanode", "receive_packet", host="a", proc=1, bytes=704),
        ]
    )
    names = ("op", "host", "proc", "calls", "bytes", "time", "max")
    assert list(map(attrgetter(*names), engine.records(disks(), DiskStep))) == [
        ("write", "a", 1, 11, 704, 110, 20),
        ("write", "b", 2, 10, 640, 9000, 5000),
    ]
