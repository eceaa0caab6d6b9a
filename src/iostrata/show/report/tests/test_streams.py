from __future__ import annotations

from pathlib import Path

from iostrata.analyse.tests.test_merged import read as request
from iostrata.show.report.tests.test_document import MS, read
from iostrata.store.tests.made import START, make_run, process, row_of_call


def test_streams_have_a_pattern_and_the_places_of_their_requests(tmp_path: Path) -> None:
    """GIVEN a file read from its begin to its end, and one of which too little is known."""
    reads = [
        row_of_call("java", "read", "/a", bytes=100, offset=100 * n, start=START + 50 * MS * n,
                    proc=1, host="node")
        for n in range(20)
    ]  # fmt: skip
    few = [row_of_call("java", "read", "/b", bytes=100, offset=0, start=START, proc=1, host="node")]
    make_run(tmp_path, "r", reads + few, [process("client", 1)])
    streams = read(tmp_path)["streams"]
    (row,) = streams["rows"]
    points = row.pop("points")
    assert row == {
        "host": "node",
        "layer": "java",
        "direction": "read",
        "target": "/a",
        "block": 0,
        "pattern": "contiguous",
        "requests": 20,
        "bytes": 2000,
        "size": 100,
        "stride": 100,
        "again": 0,
        "task": None,
    }
    assert points == [[50 * n, 100 * n] for n in range(20)]
    assert streams["more"] == 0


def test_sizes_of_requests_before_and_after_they_are_merged(tmp_path: Path) -> None:
    """GIVEN 16 reads of 4 KiB, of which each follows the one before, and two that follow none."""
    reads = [request(n, 4096 * n) for n in range(16)]
    make_run(tmp_path, "r", [*reads, request(20, 1 << 20), request(21, 1 << 30, 100)])
    assert read(tmp_path)["merged"] == [
        {
            "layer": "java",
            "direction": "read",
            "requests": 18,
            "merged": 3,
            "bytes": 17 * 4096 + 100,
            "classes": [
                {"size": 64, "before": 100, "after": 100},
                {"size": 4096, "before": 17 * 4096, "after": 4096},
                {"size": 65536, "before": 0, "after": 16 * 4096},
            ],
        }
    ]
