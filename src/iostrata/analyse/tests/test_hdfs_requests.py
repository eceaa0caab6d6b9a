from __future__ import annotations

from iostrata.analyse.hdfs_requests import (
    HdfsRequest,
    HdfsRequestTotal,
    hdfs_request_totals,
    hdfs_requests,
)
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import row_of_call, row_of_sum

INNER, COVERED = FLAG["inner"], FLAG["double_counted"]


def test_requests_come_in_order_without_what_is_within_them(traced: Traced) -> None:
    engine = traced(
        [
            row_of_call("hdfs", "stat", "/b", start=7, proc=1, tid=2),
            row_of_call("hdfs", "open", "/a", start=5, proc=1, tid=2),
            row_of_call("hdfs", "open", "/a", start=5, proc=1, tid=2, flags=INNER),
            row_of_call("hdfs", "locate", "/a", start=6, proc=1, tid=2),
            row_of_call("namenode", "stat", "/b", start=8, proc=3, tid=4),
        ]
    )
    assert engine.records(hdfs_requests(), HdfsRequest) == [
        HdfsRequest(start=5, dur=1000, op="open", target="/a", proc=1, tid=2),
        HdfsRequest(start=7, dur=1000, op="stat", target="/b", proc=1, tid=2),
    ]


def test_totals_count_each_request_and_byte_once(traced: Traced) -> None:
    engine = traced(
        [
            row_of_sum("hdfs", "open", count=3),
            row_of_sum("hdfs", "open", count=3, flags=INNER),
            row_of_sum("hdfs", "read", count=4, bytes=400),
            row_of_sum("hdfs", "read_vectored", count=1, bytes=50),
            row_of_sum("hdfs", "read", count=4, bytes=400, flags=INNER | COVERED),
            row_of_sum("fs", "write", count=1, bytes=20, category="hdfs"),
            row_of_sum("fs", "write", count=1, bytes=10, category="wal"),  # HBase's
            row_of_sum("fs", "write", count=9, bytes=99, category="file"),
        ]
    )
    assert engine.records(hdfs_request_totals(), HdfsRequestTotal) == [
        HdfsRequestTotal(op="open", calls=3, bytes=0),
        HdfsRequestTotal(op="read", calls=5, bytes=450),
        HdfsRequestTotal(op="write", calls=2, bytes=30),
    ]
