from __future__ import annotations

from operator import attrgetter
from typing import Any

from iostrata.analyse.rereading import Rereading, rereading
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import row_of_call


def read(layer: str, target: str, offset: int, size: int, **more: Any) -> dict[str, Any]:
    op = "read_block" if layer == "datanode" else "read"
    return row_of_call(layer, op, target, offset=offset, bytes=size, **more)


def test_bytes_of_places_that_were_read_before(traced: Traced) -> None:
    engine = traced(
        [
            read("datanode", "BP-1", 0, 100, block=7, host="a"),
            read("datanode", "BP-1", 0, 60, block=7, host="b"),  # of another replica
            read("datanode", "BP-1", 500, 40, block=7, host="a"),
            read("datanode", "BP-1", 0, 90, block=8),
            row_of_call("datanode", "disk_transfer", "BP-1", offset=0, bytes=90, block=8),
            read("hdfs", "/in", 0, 30, proc=1),
            read("hdfs", "/in", 0, 30, proc=2),
            read("hdfs", "/in", 0, 30, proc=2),
            read("hdfs", "/in", -1, 30, proc=2),  # nobody knows from where
            row_of_call("hdfs", "write", "/in", offset=0, bytes=30),
        ]
    )
    names = ("layer", "target", "block", "reads", "places", "bytes", "again")
    assert list(map(attrgetter(*names), engine.records(rereading(), Rereading))) == [
        ("datanode", "BP-1", 7, 3, 2, 200, 60),
        ("hdfs", "/in", 0, 3, 1, 90, 60),
        ("datanode", "BP-1", 8, 1, 1, 90, 0),
    ]
