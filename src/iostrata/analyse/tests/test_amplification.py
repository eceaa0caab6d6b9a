from __future__ import annotations

from operator import attrgetter
from typing import Any

from iostrata.analyse.amplification import STEPS, Amplification, amplification
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import row_of_sum

DATANODE: dict[str, Any] = {"role": "DataNode"}
# 100 bytes are written once and read once, from three replicas
EVENTS = [
    row_of_sum("fs", "write", bytes=100, role="map", category="hdfs"),
    row_of_sum("fs", "write", bytes=50, role="map", category="file"),  # not to HDFS
    row_of_sum("hdfs", "send_packet", bytes=100, role="map"),
    row_of_sum("hdfs", "send_packet", bytes=100, role="map", flags=FLAG["double_counted"]),
    row_of_sum("hdfs", "receive_packet", bytes=300, **DATANODE),  # a step of the pipeline
    row_of_sum("datanode", "receive_packet", bytes=300, **DATANODE),
    row_of_sum("datanode", "write", bytes=300, **DATANODE),
    row_of_sum("java", "write", bytes=290, category="blk", **DATANODE),
    row_of_sum("java", "write", bytes=10, category="blk", **DATANODE),
    row_of_sum("java", "write", bytes=6, category="blk_meta", **DATANODE),
    row_of_sum("java", "write", bytes=6, category="log", **DATANODE),
    row_of_sum("hdfs", "read", bytes=80),  # of a process without a role
    row_of_sum("datanode", "send_packet", bytes=120, **DATANODE),
]


def test_each_step_beside_what_was_asked_for(traced: Traced) -> None:
    found = traced(EVENTS).records(amplification(), Amplification)
    names = ("direction", "step", "layer", "bytes", "factor")
    assert list(map(attrgetter(*names), found)) == [
        ("read from HDFS", 0, "hdfs", 80, 1.0),
        ("read from HDFS", 2, "datanode", 120, 1.5),
        ("written to HDFS", 0, "fs", 100, 1.0),
        ("written to HDFS", 1, "hdfs", 100, 1.0),
        ("written to HDFS", 2, "datanode", 300, 3.0),
        ("written to HDFS", 3, "datanode", 300, 3.0),
        ("written to HDFS", 4, "java", 300, 3.0),
        ("written to HDFS", 5, "java", 6, 0.06),
    ]
    assert all(STEPS[row.direction][row.step].title == row.title for row in found)


def test_without_what_was_asked_for_there_is_no_factor(traced: Traced) -> None:
    engine = traced([row_of_sum("datanode", "send_packet", bytes=9)])
    found = engine.records(amplification(), Amplification)
    assert [(row.bytes, row.factor) for row in found] == [(9, None)]
