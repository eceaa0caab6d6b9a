from __future__ import annotations

from operator import attrgetter

from iostrata.analyse.moved import Moved, Timed, moved, times
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import row_of_call, row_of_sum


def test_what_was_moved_by_host_layer_and_job(traced: Traced) -> None:
    given = {"host": "a", "job": "j"}
    engine = traced(
        [
            row_of_sum("java", "read", count=2, bytes=20, **given),
            row_of_sum("java", "read", count=3, bytes=5, flags=FLAG["inner"], **given),
            row_of_sum("java", "write", bytes=7, flags=FLAG["double_counted"], **given),
            row_of_sum("java", "write", bytes=9, host="b"),
        ]
    )
    names = ("host", "layer", "job", "calls", "bytes_read", "bytes_written", "bytes_sent")
    assert list(map(attrgetter(*names), engine.records(moved(), Moved))) == [
        ("a", "java", "j", 3, 25, 0, 0),
        ("b", "java", "", 1, 0, 9, 0),
    ]


def test_how_long_calls_took_by_bucket(traced: Traced) -> None:
    given = {"host": "a", "job": "j"}
    engine = traced(
        [
            *(row_of_call("java", "read", "/a", dur=dur, **given) for dur in (16, 17, 40)),
            row_of_call("hdfs", "read", "/a", dur=16, host="a"),
        ]
    )
    names = ("host", "layer", "job", "bucket", "calls", "dur")
    assert list(map(attrgetter(*names), engine.records(times(), Timed))) == [
        ("a", "hdfs", "", 16, 1, 16),
        ("a", "java", "j", 16, 2, 33),
        ("a", "java", "j", 26, 1, 40),
    ]
