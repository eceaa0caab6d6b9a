from __future__ import annotations

from iostrata.analyse.sizes import size_classes, sizes
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import row_of_call, row_of_sum

COVERED = FLAG["double_counted"]


def test_requests_that_moved_data_count_by_their_size(traced: Traced) -> None:
    calls = [
        row_of_call("java", "read", "/a", bytes=100),
        row_of_call("java", "read", "/b", bytes=101),
        row_of_call("java", "read", "/a", bytes=104),
        row_of_call("java", "read", "/a", bytes=50, flags=COVERED),  # within a read
        row_of_call("java", "open", "/a", bytes=7),  # moves nothing
        row_of_call("hdfs", "write", "/h", bytes=0),
    ]
    assert traced(calls).records(sizes(), dict) == [
        {"layer": "hdfs", "op": "write", "bucket": 0, "calls": 1, "bytes": 0},
        {"layer": "java", "op": "read", "bucket": 82, "calls": 2, "bytes": 201},
        {"layer": "java", "op": "read", "bucket": 84, "calls": 1, "bytes": 104},
    ]


def test_classes_of_all_that_moved_data_come_from_sums(traced: Traced) -> None:
    sums = [
        row_of_sum("java", "read", size_class=7, count=1000, bytes=100_000),
        row_of_sum("java", "read", size_class=7, count=1, bytes=64),
        row_of_sum("java", "read", size_class=1, count=5, bytes=5),
        row_of_sum("java", "read", size_class=7, count=9, bytes=900, flags=COVERED),
        row_of_call("java", "read", "/a", bytes=100),
    ]
    assert traced(sums).records(size_classes(), dict) == [
        {"layer": "java", "op": "read", "size_class": 1, "calls": 5, "bytes": 5},
        {"layer": "java", "op": "read", "size_class": 7, "calls": 1001, "bytes": 100_064},
    ]
